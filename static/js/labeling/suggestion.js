// What a model suggests is folded. Whether it was looked at goes with the label, because what one has seen anchors.
import { changed } from "./drafts.js";

const seen = () => document.querySelector("[name=suggestion_seen]");

document.addEventListener(
  "toggle",
  (event) => {
    if (!event.target.matches?.("[data-suggestion]") || !event.target.open || seen().value) return;
    seen().value = "1";
    changed();
  },
  true,
);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-dismiss]");
  if (!button) return;
  button.closest("[data-suggestion]").hidden = true;
  document.querySelector("input[name=tool]:checked, input[name=tool]")?.focus();
});
