// The pane of the label, which the server draws: after it came, the list of tools and the focus follow it.
import { onKey } from "../keys.js";
import { person } from "../session.js";
import { expectFocus, expectPane, paneCame } from "./ahead.js";
import { changed } from "./drafts.js";
import { markUsed } from "./picks.js";
import { refresh } from "./problems.js";
import { chosenWhenSent, focusBehind, isFocusFree } from "./redraw.js";
import { showKept } from "./saved.js";
import { isHandedIn } from "./storage.js";

// Whether a pane could not be fetched while the server was away.
let missed = false;
let wantsFocus = false;
// Whether a tool was chosen by a click or a tap: its form comes into sight, without a keyboard on the screen.
let wantsSight = false;
const panel = () => document.getElementById("panel");
const drawn = () => panel()?.querySelector("[data-choice]");
const shown = () => drawn()?.dataset.choice;
const chosen = () => document.querySelector("input[name=tool]:checked");
const controls = "[data-first], [data-value], textarea, input:not([type=hidden])";
const focusPanel = () => (panel()?.querySelector("[data-first], .arg [data-value]") ?? panel()?.querySelector(controls) ?? document.getElementById("rationale"))?.focus();

// What an act puts the focus on: the list of tools, the first argument, a control by its id, an argument by its address.
const focusOn = (what) => {
  const address = CSS.escape(what.slice(2));
  const inside = `[data-path="${address}"] [data-value], [data-path^="${address}/"] [data-value], [data-adds-to="${address}"]`;
  if (what === "find") document.getElementById("find")?.focus();
  else if (what === "first") focusPanel();
  else (what.startsWith("v:") ? panel().querySelector(inside) : document.getElementById(what))?.focus();
};

// Whether the form that is shown is not the one of the choice: its fields have not come.
export const lacksFields = () => {
  const needsFields = chosen() && !["any", "ambiguous", "missing_tool"].includes(chosen().value);
  const isForm = shown() !== undefined && !panel().querySelector("#json");
  return Boolean(missed && needsFields && isForm && shown() !== chosen().value);
};

const isPanel = (event) => event.detail.target !== null && event.detail.target === panel();
document.addEventListener("htmx:beforeSend", (event) => {
  if (!isPanel(event)) return;
  expectPane();
  // A button's answer says what gets the focus.
  if (event.detail.elt.matches("button")) expectFocus(true);
});
document.addEventListener("htmx:afterRequest", (event) => isPanel(event) && paneCame());

// After a tool was chosen: its pane is shown already, or comes with the next swap.
const follow = () => {
  if (!panel()) return;
  wantsFocus = shown() !== chosen()?.value;
  expectFocus(wantsFocus);
  if (!wantsFocus) focusPanel();
};
onKey((name) => {
  if (document.querySelector(`.tools-list [data-key="${CSS.escape(name)}"]`)) queueMicrotask(follow);
  if (name === "j") wantsFocus = true;
  return false;
});
document.addEventListener("tool-chosen", follow);

const bringToSight = () => {
  wantsSight = false;
  const pane = panel()?.closest(".pane");
  const { top = 0 } = pane?.getBoundingClientRect() ?? {};
  if (top < 0 || top > innerHeight / 2) pane?.scrollIntoView({ block: "start" });
};
document.addEventListener("click", (event) => {
  if (event.detail === 0 || event.target.matches("input") || !event.target.closest(".tools-list .tool-row")) return;
  wantsSight = true;
  setTimeout(() => wantsSight && shown() === chosen()?.value && bringToSight());
});

// In the same moment as the pane: the list of tools says which one the open call has, unless another was chosen meanwhile.
const chooseShown = () => {
  if (chosen()?.value !== chosenWhenSent(panel())) return;
  const radio = shown() ? document.querySelector(`input[name=tool][value="${CSS.escape(shown())}"]`) : null;
  if (radio) radio.checked = true;
  else if (chosen() && !panel().querySelector("#json")) chosen().checked = false;
};

// A person who has gone to another field meanwhile stays there.
const settle = () => {
  const isLast = !chosen() || !shown() || shown() === chosen().value;
  if (isFocusFree(panel())) {
    if (drawn()?.dataset.then) focusOn(drawn().dataset.then);
    else if (!wantsFocus) focusBehind();
    else if (isLast) focusPanel();
  }
  if (isLast) expectFocus((wantsFocus = false));
  if (isLast && wantsSight) bringToSight();
  refresh();
  markUsed();
  changed();
};

document.addEventListener("htmx:afterSwap", (event) => event.target.id === "panel" && chooseShown());
document.addEventListener("htmx:afterSettle", (event) => event.target.id === "panel" && settle());

// What could not be fetched while the server was away is fetched once it is back: once, and not what is on its way.
const miss = (event) => {
  if (!isPanel(event)) return;
  missed = true;
  showKept();
};
for (const name of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(name, miss);
document.addEventListener("htmx:responseError", (event) => event.detail.xhr.status >= 500 && miss(event));
document.addEventListener("reached", () => {
  const list = document.querySelector(".tools-list");
  const isForm = missed && list && !document.querySelector("#panel #json");
  missed = false;
  // A label that is handed in stays as it is.
  if (!isForm || isHandedIn(person(), document.getElementById("main").dataset.slot)) return;
  if (chosen() && shown() !== undefined && shown() !== chosen().value) chosen().dispatchEvent(new Event("change", { bubbles: true }));
  else window.htmx.ajax("POST", list.getAttribute("hx-post"), { source: drawn() });
});
// A field that stands for a choice chooses it; one that names something adds it by Enter.
document.addEventListener("input", (event) => {
  const choice = event.target.dataset?.checks && document.getElementById(event.target.dataset.checks);
  if (choice) choice.checked = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.dataset?.addsBy) return;
  event.preventDefault();
  document.getElementById(event.target.dataset.addsBy).click();
});
