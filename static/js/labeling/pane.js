// The pane of arguments, which the server draws: after it came, the list of tools and the focus follow it.
import { onKey } from "../keys.js";
import { changed } from "./drafts.js";
import { markUsed } from "./picks.js";
import { refresh } from "./problems.js";
import { showKept } from "./saved.js";

let wantsFocus = false;
const want = () => (wantsFocus = true);

onKey((name) => {
  if (/^[0-9]$/.test(name) || name === "j") want();
  return false;
});
document.addEventListener("tool-chosen", want);

const follow = (panel) => {
  const choice = panel.querySelector("[data-choice]")?.dataset.choice;
  if (choice) {
    const radio = document.querySelector(`input[name=tool][value="${CSS.escape(choice)}"]`);
    if (radio) radio.checked = true;
  }
  if (wantsFocus) panel.querySelector("[data-first], [data-value], textarea, input:not([type=hidden])")?.focus();
  wantsFocus = false;
  refresh();
  markUsed();
  changed();
};

document.addEventListener("htmx:afterSettle", (event) => event.target.id === "panel" && follow(event.target));
document.addEventListener("htmx:sendError", showKept);
// What could not be fetched while the server was away is fetched once it is back.
document.addEventListener("reached", () => {
  const shown = document.querySelector("#panel [data-choice]")?.dataset.choice;
  const chosen = document.querySelector("input[name=tool]:checked");
  const isForm = !document.querySelector("#panel #json");
  if (isForm && chosen && shown !== undefined && shown !== chosen.value) chosen.dispatchEvent(new Event("change", { bubbles: true }));
});
