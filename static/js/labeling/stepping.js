// In an empty text field, the arrows down and up put in the values of the conversation that fit, one after the other: first
// those that begin as the argument's pattern says, or look like a code where it says nothing plain; then what was said
// last. What another field has already comes at the end.
import { placeOf, send } from "./picks.js";
import { fitting } from "./values.js";

const STEPS = { ArrowDown: 1, ArrowUp: -1 };
const CODE = /^[\w@.:/-]*[\d_-][\w@.:/-]*$/u;
// What an arrow has put into a field last.
const given = new WeakMap();

const isSteppable = (control) => control instanceof HTMLInputElement && control.matches("#panel input[data-value]:not([type=radio], [type=checkbox], [list])") && !control.closest("[data-chips]");

const offered = (control) => {
  const { begins = "", coded } = control.closest("[data-path]")?.dataset ?? {};
  const others = new Set([...document.querySelectorAll("#panel [name]")].filter((one) => one !== control).map((one) => one.value));
  const values = new Map();
  for (const pick of document.querySelectorAll("[data-pickable] .pick")) {
    const said = pick.dataset.value;
    const isNow = Boolean(pick.closest(".msg-now"));
    const fits = fitting(control, said);
    if (fits.problem || (values.get(said)?.isNow ?? false)) continue;
    values.set(said, { said, isNow, place: placeOf(pick), value: fits.value, order: 0 });
  }
  for (const one of values.values()) {
    const isFirst = begins ? one.said.startsWith(begins) : coded !== undefined && CODE.test(one.said);
    one.order = (others.has(one.value) ? 4 : 0) + (isFirst ? 0 : 2) + (one.isNow ? 0 : 1);
  }
  return [...values.values()].sort((one, other) => one.order - other.order);
};

document.addEventListener("keydown", (event) => {
  const control = event.target;
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing || !isSteppable(control)) return;
  if (control.value && control.value !== given.get(control)) return;
  const values = offered(control);
  if (!values.length) return;
  event.preventDefault();
  const at = control.value ? values.findIndex(({ value }) => value === control.value) : step > 0 ? -1 : values.length;
  const { said, place, value } = values[(at + step + values.length) % values.length];
  given.set(control, value);
  send(said, place, control);
});
