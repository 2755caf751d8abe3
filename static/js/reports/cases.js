// The list of cases: filters show at once, J and K move over the lines.
import { onKeys } from "./acts.js";
import { submitOnChange } from "./filters.js";

submitOnChange(document.querySelector("[data-filters]"));
const links = [...document.querySelectorAll(".case-link")];
const step = (by) => () => {
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? 0 : Math.max(0, Math.min(at + by, links.length - 1))];
  if (!next) return false;
  next.focus();
  return true;
};
onKeys({ j: step(1), k: step(-1) });
