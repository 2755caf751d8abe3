// The argument form: what was typed into is part of the label, lists are chips, Enter goes to the next field.
import { afterPane } from "./ahead.js";
import { changed } from "./drafts.js";
import { isSwapping } from "./swap.js";

const rowOf = (control) => control.closest("[data-path]");
const matcherOf = (row) => row.querySelector("select.matcher");
// What is entered for an argument itself: `c1.v/order_id`.
export const isValue = (name) => /^c\d+\.v(\/|$)/.test(name);
export const valuesOf = (row) =>
  [...row.querySelectorAll("[name]")].filter((one) => isValue(one.name)).filter((one) => !one.matches("[type=radio], [type=checkbox]") || one.checked).map((one) => one.value).filter(Boolean);

// An optional field that is typed into is compared by "equals"; emptied again, it is no part of the label.
const touch = (row) => {
  const matcher = matcherOf(row);
  if (!matcher) return;
  const filled = valuesOf(row).length > 0;
  if (filled && matcher.value === "unnamed") matcher.value = "exact";
  else if (!filled && matcher.value === "exact" && "optional" in row.dataset) matcher.value = "unnamed";
  row.classList.toggle("is-unnamed", matcher.value === "unnamed");
};

export const chip = (text, name) => {
  const element = document.createElement("span");
  element.className = "chip";
  const shown = document.createElement("span");
  shown.textContent = text;
  const value = Object.assign(document.createElement("input"), { type: "hidden", name, value: text });
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
  button.setAttribute("aria-label", `Remove ${text}`);
  element.append(shown, value, button);
  return element;
};

const chipsChanged = (input) => {
  touch(rowOf(input));
  changed();
  input.dispatchEvent(new Event("input", { bubbles: true }));
};

export const addChip = (input, text = input.value.trim()) => {
  if (!text) return;
  input.before(chip(text, input.name));
  input.value = "";
  chipsChanged(input);
};

// What is typed and not yet a chip is handed in as one.
export const addTyped = () => {
  for (const input of document.querySelectorAll("[data-chips] > input")) addChip(input);
};

const nextField = (control) => {
  const isSame = (one) => one.type === "radio" && one.name === control.name;
  const isBehind = (one) => control.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING && !isSame(one);
  // A list that lacks items is a stop as well: its button adds one.
  [...document.querySelectorAll("#panel [data-value], #panel [data-stop], #rationale")].find((one) => isBehind(one) && one.checkVisibility())?.focus();
};

document.addEventListener("input", (event) => {
  const row = event.target.matches("[data-value]") && rowOf(event.target);
  if (row) touch(row);
});
document.addEventListener("keydown", (event) => {
  const input = event.target;
  const isField = input instanceof HTMLInputElement || input.matches?.("#panel select");
  if (!isField || !input.closest("form[data-work]") || event.ctrlKey || event.metaKey || event.isComposing) return;
  const inChips = input.closest("[data-chips]");
  if (event.key === "Enter") {
    event.preventDefault();
    if (inChips && input.value.trim()) addChip(input);
    else if (input.matches("#panel .matcher")) afterPane(() => nextField(document.getElementById(input.id) ?? input));
    else if (input.matches("#panel [data-path] :is(input, select), #panel .group-foot input")) nextField(input);
  } else if (inChips && event.key === "Backspace" && !input.value) {
    inChips.querySelector(".chip:last-of-type")?.remove();
    chipsChanged(input);
  }
});
document.addEventListener("focusout", (event) => {
  if (!isSwapping() && event.target.matches("[data-chips] > input")) addChip(event.target);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-chips] .chip button");
  if (!button) return;
  const input = button.closest("[data-chips]").querySelector(":scope > input");
  button.closest(".chip").remove();
  input.focus();
  chipsChanged(input);
});
