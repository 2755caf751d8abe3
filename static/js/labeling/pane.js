// The pane of the label, which the server draws: after it came, the list of tools and the focus follow it.
import { inField, keyed, onKey, pressKey } from "../keys.js";
import { changed } from "./drafts.js";
import { markUsed } from "./picks.js";
import { refresh } from "./problems.js";
import { showKept } from "./saved.js";
import { onMain } from "./swap.js";

let wantsFocus = false;
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

const noteKey = (name) => {
  if (name === "j") wantsFocus = true;
};

// While the pane is being drawn, its buttons are about to be replaced: a key for one of them waits for the new pane.
let drawing = 0;
let held = [];
const release = () => {
  drawing = Math.max(0, drawing - 1);
  if (drawing > 0) return;
  for (const name of held.splice(0)) {
    noteKey(name);
    pressKey(name);
  }
};
const isPanel = (event) => event.detail.target?.id === "panel";
document.addEventListener("htmx:beforeSend", (event) => isPanel(event) && (drawing += 1));
document.addEventListener("htmx:afterRequest", (event) => isPanel(event) && !event.detail.successful && release());
onKey((name, event) => {
  const element = keyed(name);
  const waits = element ? element.closest("#panel") : /^\S$/.test(name);
  if (drawing === 0 || inField(event.target) || !waits) return false;
  held.push(name);
  return true;
});
onMain(() => {
  drawing = 0;
  held = [];
});

// After a tool was chosen: its pane is shown already, or comes with the next swap.
const follow = () => {
  if (!panel()) return;
  wantsFocus = shown() !== chosen()?.value;
  if (!wantsFocus) focusPanel();
};
onKey((name) => {
  if (document.querySelector(`.tools-list [data-key="${CSS.escape(name)}"]`)) queueMicrotask(follow);
  noteKey(name);
  return false;
});
document.addEventListener("tool-chosen", follow);

// In the same moment as the pane: the list of tools says which one the open call has.
const chooseShown = () => {
  const radio = shown() ? document.querySelector(`input[name=tool][value="${CSS.escape(shown())}"]`) : null;
  if (radio) radio.checked = true;
  else if (chosen() && !panel().querySelector("#json")) chosen().checked = false;
};

const settle = () => {
  if (drawn()?.dataset.then) focusOn(drawn().dataset.then);
  else if (wantsFocus) focusPanel();
  wantsFocus = false;
  refresh();
  markUsed();
  changed();
  release();
};

document.addEventListener("htmx:afterSwap", (event) => event.target.id === "panel" && chooseShown());
document.addEventListener("htmx:afterSettle", (event) => event.target.id === "panel" && settle());
// What could not be fetched while the server was away is fetched once it is back: once, and not what is on its way.
let missed = false;
document.addEventListener("htmx:sendError", () => {
  missed = true;
  showKept();
});
document.addEventListener("reached", () => {
  const isForm = missed && !document.querySelector("#panel #json");
  missed = false;
  if (isForm && chosen() && shown() !== undefined && shown() !== chosen().value) chosen().dispatchEvent(new Event("change", { bubbles: true }));
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
