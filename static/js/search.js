// The search dialog: Ctrl K opens it, arrows move over what was found, Enter opens it.
const dialog = document.getElementById("search");
const field = dialog?.querySelector("input");
const links = () => [...dialog.querySelectorAll("#search-found a")];

const open = () => {
  if (dialog.open) return;
  dialog.showModal();
  field.select();
};

const move = (by) => {
  const all = links();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement);
  const next = at + by;
  if (next < 0) field.focus();
  else all[Math.min(next, all.length - 1)].focus();
};

if (dialog) {
  document.querySelector("[data-search]")?.addEventListener("click", (event) => {
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      if (document.querySelector("dialog[open]")) return;
      event.preventDefault();
      open();
    }
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    }
  });
  // Enter in the field opens the first that was found; before anything was, the page of the search.
  dialog.querySelector("form").addEventListener("submit", (event) => {
    const [first] = links();
    if (!first || dialog.querySelector("#search-found").dataset.words !== field.value.trim()) return;
    event.preventDefault();
    first.click();
  });
  dialog.addEventListener("htmx:beforeRequest", (event) => {
    dialog.querySelector("#search-found").dataset.asked = event.detail.requestConfig.parameters.q ?? field.value;
  });
  dialog.addEventListener("htmx:afterSwap", () => {
    const found = dialog.querySelector("#search-found");
    found.dataset.words = (found.dataset.asked ?? "").trim();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
}
