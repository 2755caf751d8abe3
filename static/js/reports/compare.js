// Two runs side by side: chosen runs and filters show at once, J and K move over the examples, Escape goes back.
import "../keys.js";
import { onEscape, onKeys } from "./acts.js";
import { submitOnChange } from "./filters.js";

const pair = document.querySelector("[data-pair]");
pair?.addEventListener("change", () => pair.requestSubmit());
const filters = document.querySelector("[data-filters]");
if (filters) submitOnChange(filters);

const links = [...document.querySelectorAll(".case-link")];
const step = (by) => () => {
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? 0 : Math.max(0, Math.min(at + by, links.length - 1))];
  if (!next) return false;
  next.focus();
  return true;
};
if (links.length) onKeys({ j: step(1), k: step(-1) });

const back = document.querySelector("[data-back]");
if (back) onEscape(() => back.click());
