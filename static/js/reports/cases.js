// The list of cases: filters show at once, J and K move over the lines.
import { onKeys } from "./acts.js";
import { submitOnChange } from "./filters.js";
import { keepPlace, leftCase, takeUp } from "./places.js";

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
// Back from a case: to the line that was opened. Out of it by Escape: to the line of the case that was read last.
const kept = keepPlace();
const last = leftCase() && !kept?.returns ? links.find((link) => link.pathname.includes(leftCase())) : null;
takeUp(last && kept ? { ...kept, focus: "" } : kept);
last?.focus();
