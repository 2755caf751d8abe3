import "./forms.js";
import "./fragments.js";
import "./search.js";
import "./session.js";
import "./signing_out.js";

// What every page's shell does: menus close when one clicks elsewhere or presses Escape, and times are shown in local time.
const menus = () => document.querySelectorAll("details[data-menu][open]");

document.addEventListener("click", (event) => {
  for (const menu of menus()) if (!(event.target instanceof Node && menu.contains(event.target))) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const showLocalTimes = (root) => {
  for (const element of root.querySelectorAll("time[datetime*=T]:not([title])")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    element.title = element.dateTime;
    if (element.dataset.show === "clock") element.textContent = clock.format(moment);
    else element.textContent = `${day.format(moment)}, ${clock.format(moment)}`;
  }
};
showLocalTimes(document);
document.addEventListener("htmx:load", (event) => showLocalTimes(event.detail.elt));

// Where tabs scroll sideways, the one of this page is in sight.
for (const tab of document.querySelectorAll(".subnav [aria-current]")) {
  const nav = tab.closest(".subnav");
  const left = tab.getBoundingClientRect().left - nav.getBoundingClientRect().left;
  nav.scrollLeft += left - (nav.clientWidth - tab.offsetWidth) / 2;
}

// Of a form with data-address, the address holds only what is filled in.
document.addEventListener("formdata", (event) => {
  if (!event.target.matches("[data-address]")) return;
  for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
});

// Paper has no folds: what is folded away is printed, and folded again.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.folded:not([open])")) {
    fold.open = true;
    addEventListener("afterprint", () => { fold.open = false; }, { once: true });
  }
});
// A button with data-print prints the page, or keeps it as PDF, by the browser's own means.
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) window.print();
});

// A button with data-copy copies that text; with an empty one, the address of the page as it stands.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy || location.href);
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = before), 1500);
});
