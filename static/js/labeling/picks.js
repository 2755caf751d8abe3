// Values of the conversation go into the argument that has, or last had, the focus: by a click, or by V and the code.
import { onKey } from "../keys.js";
import { addChip, isValue, valuesOf } from "./arguments.js";
import { echoOf } from "./dates.js";
import { onMain } from "./swap.js";
import { fitting } from "./values.js";
import { markWords } from "./words.js";

let target = null;
let typed = null;

const fields = () => [...document.querySelectorAll("#panel [data-value]")];
const field = () => (target?.isConnected ? target : fields().find((one) => one.id === target?.id) ?? fields().find((one) => !one.value));

// Where the value of an argument is from, by its address, for as long as it is so; or why a value was not taken.
let origins = new Map();
const isBox = (control) => control.matches("[type=radio], [type=checkbox]");
const holds = (row, { name, value }) => [...row.querySelectorAll("[name]")].some((one) => one.name === name && one.value === value && (!isBox(one) || one.checked));

const showOrigins = () => {
  for (const row of document.querySelectorAll("#panel [data-path]")) {
    const words = row.querySelector("[data-from]");
    const origin = origins.get(row.dataset.path);
    const isSo = origin && (origin.problem || holds(row, origin));
    if (origin && !isSo) origins.delete(row.dataset.path);
    const text = !isSo ? "" : origin.problem ? `${origin.problem}. Nothing was changed` : `from “${origin.said}”, ${origin.place}`;
    if (!words || words.textContent === text) continue;
    words.textContent = text;
    words.classList.toggle("is-refused", Boolean(isSo && origin.problem));
  }
};

/** @param {any} control @param {{ value?: any, option?: any }} fits */
const put = (control, { value, option }) => {
  const row = control.closest("[data-path]");
  if (control.matches("[data-chips] > input")) {
    if (row && holds(row, { name: control.name, value })) return;
    return addChip(control, value);
  }
  if (option && isBox(option)) {
    if (!option.checked) option.click();
    return;
  }
  if (control.matches("#json") || (row?.dataset.takes === "json" && control.value)) control.setRangeText(value, control.selectionStart, control.selectionEnd, "end");
  else control.value = value;
  control.dispatchEvent(new Event("input", { bubbles: true }));
};

export const placeOf = (element) => element.closest("[data-place]")?.dataset.place ?? "the conversation";

// Puts what is said at a place into a control, where it fits; the control has the focus then.
export const send = (said, place, control = field()) => {
  if (!control) return;
  const fits = fitting(control, said);
  const address = control.closest("[data-path]")?.dataset.path;
  origins.delete(address);
  if (!fits.problem) put(control, fits);
  if (address) origins.set(address, { ...fits, said, place, name: control.name });
  showOrigins();
  markUsed();
  control.focus();
};

// A date says its weekday beside it.
const showDates = () => {
  for (const row of document.querySelectorAll("#panel [data-path]")) {
    const echo = row.querySelector("[data-echo]");
    const said = echo ? valuesOf(row).map(echoOf).filter(Boolean).join(", ") : "";
    if (echo && echo.textContent !== said) echo.textContent = said;
  }
};

// Words that are selected in the conversation, without the codes of values.
const selected = () => {
  const selection = getSelection();
  const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
  const at = range?.commonAncestorContainer;
  const element = at?.nodeType === Node.TEXT_NODE ? at.parentElement : at;
  if (!element?.closest("[data-pickable] li")) return null;
  const copy = document.createElement("div");
  copy.append(range.cloneContents());
  for (const code of copy.querySelectorAll("sup")) code.remove();
  const said = copy.textContent.trim();
  return said ? { said, place: placeOf(element) } : null;
};

export const markUsed = () => {
  showDates();
  const used = new Set([...document.querySelectorAll("#panel [name]")].filter((one) => isValue(one.name)).map((one) => one.value));
  showOrigins();
  for (const { said, problem } of origins.values()) if (!problem) used.add(said);
  for (const pick of document.querySelectorAll(".pick")) pick.classList.toggle("is-used", used.has(pick.dataset.value));
};

const stop = () => {
  typed = null;
  document.body.classList.remove("is-picking");
};

onKey((name) => {
  if (typed === null && name !== "v") return false;
  if (typed === null) {
    const words = fields().length ? selected() : null;
    if (words) {
      getSelection().removeAllRanges();
      send(words.said, words.place);
      return true;
    }
    if (!document.querySelector(".pick") || !fields().length) return false;
    typed = "";
    document.body.classList.add("is-picking");
    return true;
  }
  typed += name.length === 1 ? name : "";
  const open = [...document.querySelectorAll(".pick")].filter((pick) => pick.dataset.code.startsWith(typed));
  if (open.length && open[0].dataset.code !== typed) return true;
  stop();
  if (open.length) send(open[0].dataset.value, placeOf(open[0]));
  return true;
});
onKey((name) => {
  if (name !== "m") return false;
  const matcher = (field()?.closest("[data-path]") ?? document.querySelector("#panel [data-path]"))?.querySelector("select.matcher");
  matcher?.focus();
  return Boolean(matcher);
});

document.addEventListener("keydown", (event) => event.key === "Escape" && stop());
document.addEventListener("focusin", (event) => {
  if (event.target.matches("#panel [data-value], #json")) target = event.target;
});
// The focus stays in the field while one clicks a value.
document.addEventListener("mousedown", (event) => event.target.closest(".pick") && event.preventDefault());
document.addEventListener("click", (event) => {
  const pick = event.target.closest(".pick");
  if (pick) send(pick.dataset.value, placeOf(pick));
});
// What is entered by hand is from nowhere else, and answers why a value was not taken. Another tool answers it too.
const edited = (event) => {
  if (event.target.name === "tool") for (const [address, { problem }] of origins) if (problem) origins.delete(address);
  const address = event.target.closest?.("#panel [data-path]")?.dataset.path;
  if (origins.get(address)?.problem) origins.delete(address);
  markUsed();
};
for (const name of ["input", "change"]) document.addEventListener(name, edited);
document.addEventListener("parts-shown", () => {
  markWords(document.getElementById("main"));
  markUsed();
});
onMain((main) => {
  markWords(main);
  target = null;
  origins = new Map();
  stop();
  markUsed();
});
