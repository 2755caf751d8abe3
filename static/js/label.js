// The label page. Everything that was entered is kept; everything can be done by keyboard.
import { showKeys } from "./keys.js";
import "./labeling/acts.js";
import { afterPane } from "./labeling/ahead.js";
import { addTyped } from "./labeling/arguments.js";
import { changed, saveDraft } from "./labeling/drafts.js";
import "./labeling/drawers.js";
import "./labeling/folds.js";
import { submit } from "./labeling/outbox.js";
import { lacksFields } from "./labeling/pane.js";
import "./labeling/picks.js";
import "./labeling/presence.js";
import { enter, leave, startOver } from "./labeling/problems.js";
import "./labeling/reading.js";
import "./labeling/search.js";
import { showIncomplete } from "./labeling/saved.js";
import { fieldsOf } from "./labeling/server.js";
import "./labeling/stepping.js";
import "./labeling/suggestion.js";
import { onMain } from "./labeling/swap.js";
import "./labeling/tabs.js";
import "./labeling/talk.js";
import "./labeling/tools.js";

// What is only looked for, or asked, is no part of the label.
const inForm = (element) => element.form?.id === "label-form" && !element.matches("[type=search], [data-question]");

document.addEventListener("input", (event) => inForm(event.target) && changed());
document.addEventListener("change", (event) => {
  if (!inForm(event.target)) return;
  if (event.target.name === "tool") startOver();
  changed();
});
document.addEventListener("focusin", (event) => inForm(event.target) && event.target.closest("[data-path]") && enter(event.target));
document.addEventListener("focusout", (event) => {
  if (!inForm(event.target) || !event.target.name) return;
  // From a value to its matcher is not yet out of the field; past the matcher alone was never in it.
  const row = event.target.closest("[data-path]");
  if (row && (!event.target.matches("[data-value]") || row.contains(event.relatedTarget))) return;
  leave(event.target, event.relatedTarget);
  if (event.target.closest("#panel")) saveDraft();
});
document.addEventListener("submit", (event) => {
  if (event.target.id !== "label-form") return;
  event.preventDefault();
  // What is on its way is not handed in twice; what is being put back is not there yet.
  if (event.target.inert) return;
  // A pane that comes afterwards would change what was handed in.
  afterPane(() => {
    if (!event.target.isConnected || event.target.inert) return;
    if (lacksFields()) return showIncomplete();
    addTyped();
    submit(event.target.action, fieldsOf(event.target));
  });
});
onMain(showKeys);
