// The differences, one active at a time: arrows move over them and take a side, so do 1, 2 and B. Rationales begin with a phrase.
import { inField, onKey } from "../keys.js";
import { changed } from "./drafts.js";
import { onMain } from "./swap.js";

let active = 0;

const rows = () => [...document.querySelectorAll(".diff[data-row]")];
const radio = (row, side) => rows()[row]?.querySelector(`[data-choose=${side}]`);
const chosen = (row) => rows()[row].querySelector("[data-choose]:checked");

const show = () => {
  rows().forEach((element, row) => {
    element.classList.toggle("is-active", row === active);
    element.classList.toggle("is-done", Boolean(chosen(row)));
  });
  const count = document.querySelector("[data-tally]");
  const total = rows().length;
  if (count && total) count.textContent = `${rows().filter((_, row) => chosen(row)).length} of ${total} decided`;
};

const go = (row) => {
  active = Math.max(0, Math.min(row, rows().length - 1));
  show();
  rows()[active]?.scrollIntoView({ block: "nearest" });
  (chosen(active) ?? radio(active, "left"))?.focus({ preventScroll: true });
};

const take = (side) => {
  const taken = radio(active, side);
  if (!taken) return;
  taken.click();
  const open = (row) => row !== active && !chosen(row);
  const numbers = rows().map((_, row) => row);
  const next = numbers.find((row) => row > active && open(row)) ?? numbers.find(open);
  if (next === undefined) document.getElementById("rationale")?.scrollIntoView({ block: "nearest" });
  go(next ?? active);
};

const keys = {
  arrowup: () => go(active - 1),
  arrowdown: () => go(active + 1),
  arrowleft: () => take("left"),
  arrowright: () => take("right"),
  1: () => take("left"),
  2: () => take("right"),
  b: () => take("both"),
};
onKey((name, event) => {
  if (!keys[name] || !rows().length || inField(event.target)) return false;
  keys[name]();
  return true;
});

const begin = (button) => {
  const field = document.getElementById("rationale");
  if (!field.value.includes(button.dataset.phrase.trim())) {
    field.value = field.value.trim() ? `${field.value.trimEnd()} ${button.dataset.phrase}` : button.dataset.phrase;
    changed();
  }
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
};
// Also while one types: Alt and a digit enter nothing.
document.addEventListener("keydown", (event) => {
  const digit = event.altKey && !event.ctrlKey && !event.metaKey && event.code.match(/^Digit([1-9])$/)?.[1];
  const button = digit && document.querySelector(`[data-phrase][data-place="${digit}"]`);
  if (!button) return;
  event.preventDefault();
  begin(button);
});

document.addEventListener("click", (event) => {
  const all = event.target.closest("[data-all]");
  if (all) rows().forEach((_, row) => radio(row, all.dataset.all).click());
  const phrase = event.target.closest("[data-phrase]");
  if (phrase) begin(phrase);
});
document.addEventListener("change", (event) => {
  const row = event.target.matches("[data-choose]") && event.target.closest("[data-row]");
  if (!row) return;
  active = Number(row.dataset.row);
  show();
});
onMain(() => {
  active = Math.max(0, rows().findIndex((_, row) => !chosen(row)));
  show();
});
