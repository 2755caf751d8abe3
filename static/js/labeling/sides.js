// The differences, one active at a time: arrows move over them and take a side.
import { inField, onKey } from "../keys.js";
import { onMain } from "./swap.js";

let active = 0;

const heads = () => [...document.querySelectorAll(".path[data-row]")];
const radio = (row, side) => document.querySelector(`.side[data-row="${row}"] [data-choose=${side}]`);
const chosen = (row) => ["left", "right"].some((side) => radio(row, side).checked);

const show = () => {
  for (const element of document.querySelectorAll("[data-row]")) {
    element.classList.toggle("is-active", Number(element.dataset.row) === active);
    element.classList.toggle("is-done", chosen(element.dataset.row));
  }
  const count = document.querySelector("[data-tally]");
  const total = heads().length;
  if (count && total) count.textContent = `${heads().filter((head) => chosen(head.dataset.row)).length} of ${total} decided`;
};

const go = (row) => {
  active = Math.max(0, Math.min(row, heads().length - 1));
  show();
  heads()[active]?.scrollIntoView({ block: "nearest" });
  (["left", "right"].map((side) => radio(active, side)).find((one) => one?.checked) ?? radio(active, "left"))?.focus({ preventScroll: true });
};

const take = (side) => {
  radio(active, side)?.click();
  const next = heads().findIndex((head, row) => row > active && !chosen(row));
  go(next === -1 ? active : next);
};

const keys = {
  arrowup: () => go(active - 1),
  arrowdown: () => go(active + 1),
  arrowleft: () => take("left"),
  arrowright: () => take("right"),
};
onKey((name, event) => {
  if (!keys[name] || !heads().length || inField(event.target)) return false;
  keys[name]();
  return true;
});

document.addEventListener("click", (event) => {
  const all = event.target.closest("[data-all]");
  if (all) for (const head of heads()) radio(head.dataset.row, all.dataset.all).click();
});
document.addEventListener("change", (event) => {
  const row = event.target.matches("[data-choose]") && event.target.closest("[data-row]");
  if (!row) return;
  active = Number(row.dataset.row);
  show();
});
onMain(() => {
  active = Math.max(0, heads().findIndex((head) => !chosen(head.dataset.row)));
  show();
});
