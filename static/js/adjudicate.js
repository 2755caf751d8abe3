// The adjudication page: sides, the gold so far, and the label page's form where one starts afresh.
import { inField, showKeys } from "./keys.js";
import "./labeling/acts.js";
import { afterPane } from "./labeling/ahead.js";
import { addTyped } from "./labeling/arguments.js";
import { changed } from "./labeling/drafts.js";
import "./labeling/drawers.js";
import { submit } from "./labeling/outbox.js";
import "./labeling/pane.js";
import "./labeling/picks.js";
import "./labeling/reading.js";
import "./labeling/search.js";
import { fieldsOf } from "./labeling/server.js";
import "./labeling/sides.js";
import "./labeling/stepping.js";
import { onMain } from "./labeling/swap.js";
import "./labeling/tabs.js";
import "./labeling/talk.js";
import "./labeling/tools.js";

const inForm = (element) => element.form?.id === "decide" && !element.matches("[type=search], [data-question]");

document.addEventListener("input", (event) => inForm(event.target) && changed());
document.addEventListener("change", (event) => inForm(event.target) && changed());
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "outcome") return;
  if (!inField(document.activeElement)) event.target.querySelector("[data-first]")?.focus();
  changed();
});
document.addEventListener("submit", (event) => {
  if (event.target.id !== "decide") return;
  event.preventDefault();
  // What is on its way is not handed in twice; what is being put back is not there yet.
  if (event.target.inert) return;
  // A pane that comes afterwards would change what was handed in.
  afterPane(() => {
    if (!event.target.isConnected || event.target.inert) return;
    addTyped();
    submit(event.target.action, fieldsOf(event.target));
  });
});
onMain(showKeys);
