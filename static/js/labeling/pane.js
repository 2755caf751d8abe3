// The pane of arguments, which the server draws: after it came, the list of tools and the focus follow it.
import { onKey } from "../keys.js";
import { changed } from "./drafts.js";
import { markUsed } from "./picks.js";
import { refresh } from "./problems.js";
import { showKept } from "./saved.js";

let wantsFocus = false;
const panel = () => document.getElementById("panel");
const shown = () => panel()?.querySelector("[data-choice]")?.dataset.choice;
const chosen = () => document.querySelector("input[name=tool]:checked");
const focusPanel = () => panel()?.querySelector("[data-first], [data-value], textarea, input:not([type=hidden])")?.focus();

// After a tool was chosen: its pane is shown already, or comes with the next swap.
const follow = () => {
  wantsFocus = shown() !== chosen()?.value;
  if (!wantsFocus) focusPanel();
};
onKey((name) => {
  if (/^[0-9]$/.test(name)) queueMicrotask(follow);
  if (name === "j") wantsFocus = true;
  return false;
});
document.addEventListener("tool-chosen", follow);

const settle = () => {
  const radio = shown() && document.querySelector(`input[name=tool][value="${CSS.escape(shown())}"]`);
  if (radio) radio.checked = true;
  if (wantsFocus) focusPanel();
  wantsFocus = false;
  refresh();
  markUsed();
  changed();
};

document.addEventListener("htmx:afterSettle", (event) => event.target.id === "panel" && settle());
document.addEventListener("htmx:sendError", showKept);
// What could not be fetched while the server was away is fetched once it is back.
document.addEventListener("reached", () => {
  const isForm = !document.querySelector("#panel #json");
  if (isForm && chosen() && shown() !== undefined && shown() !== chosen().value) chosen().dispatchEvent(new Event("change", { bubbles: true }));
});
