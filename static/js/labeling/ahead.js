// Keys pressed while the pane is on its way: they wait for it, in their order. Where it brings the focus to a text field
// they are typed there, elsewhere they do what they do on the page.
import { inField } from "../keys.js";
import { onMain } from "./swap.js";

const TYPED = "input:not([type=radio], [type=checkbox]), textarea";
const EDITING = ["Backspace", "Enter", "Escape", "Tab", " "];
const ARROWS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
const STOPS = "a[href], button, input, select, textarea, summary, [tabindex='0']";
let onTheirWay = 0;
// Whether the pane on its way brings the focus: then arrows, too, are for what it brings.
let bringsFocus = false;
let held = [];
// What is to be done with the pane, such as handing in what it shows.
let acts = [];
// Letters that were typed at a list of options, one after the other.
let spelled = "";

const isStop = (element) => {
  if (element.disabled || element.tabIndex < 0 || element.type === "hidden" || !element.checkVisibility()) return false;
  if (element.type !== "radio" || element.checked) return true;
  const group = [...document.getElementsByName(element.name)];
  return group[0] === element && !group.some((one) => one.checked);
};

const goOn = (from, by) => {
  const stops = [...document.querySelectorAll(STOPS)].filter((one) => one === from || isStop(one));
  stops[stops.indexOf(from) + by]?.focus();
};

const goAlong = (radio, by) => {
  const group = [...document.getElementsByName(radio.name)].filter((one) => !one.disabled && one.checkVisibility());
  const next = group[(group.indexOf(radio) + by + group.length) % group.length];
  next.focus();
  next.click();
};

// As browsers do: the next option that begins with the letter, or the one that begins with all of them.
const spell = (list, letter) => {
  const from = spelled ? list.selectedIndex : list.selectedIndex + 1;
  spelled += letter.toLowerCase();
  const inOrder = [...list.options].map((_, place) => list.options[(from + place) % list.options.length]);
  const found = inOrder.find((option) => option.text.trim().toLowerCase().startsWith(spelled));
  if (!found || found.selected) return;
  found.selected = true;
  for (const name of ["input", "change"]) list.dispatchEvent(new Event(name, { bubbles: true }));
};

// Does what a key would have done.
const press = (kept) => {
  const at = document.activeElement ?? document.body;
  const isText = at.matches(TYPED);
  const isPlain = kept.key.length === 1 && !kept.ctrlKey && !kept.metaKey;
  if (!isPlain || !at.matches("select")) spelled = "";
  if (kept.key === "Tab") goOn(at, kept.shiftKey ? -1 : 1);
  else if (isText && kept.key === "Backspace") document.execCommand("delete");
  else if (isText && isPlain) document.execCommand("insertText", false, kept.key);
  else if (isPlain && at.matches("select")) spell(at, kept.key);
  else if (at.matches("[type=radio]") && ARROWS[kept.key] && !kept.shiftKey) goAlong(at, ARROWS[kept.key]);
  else if (kept.key === " " && at.matches("[type=radio], [type=checkbox], button")) at.click();
  else if (kept.key === "Enter" && !kept.ctrlKey && !kept.metaKey && at.matches("button, a[href], summary")) at.click();
  else at.dispatchEvent(new KeyboardEvent("keydown", { ...kept, bubbles: true, cancelable: true }));
};

const flush = () => {
  while (acts.length && onTheirWay === 0) acts.shift()();
  while (held.length && onTheirWay === 0) press(held.shift());
};

export const expectPane = () => (onTheirWay += 1);
export const expectFocus = (isExpected) => (bringsFocus = isExpected);
// Does it now, or once the pane that is on its way is there.
export const afterPane = (act) => {
  acts.push(act);
  flush();
};
// After the request has ended, whatever came of it: what a key then asks for is asked for at once.
export const paneCame = () =>
  setTimeout(() => {
    onTheirWay = Math.max(0, onTheirWay - 1);
    flush();
  });

document.addEventListener(
  "keydown",
  (event) => {
    const { key, code, ctrlKey, metaKey, shiftKey, altKey } = event;
    if (!event.isTrusted || event.isComposing || altKey) return;
    // What follows held keys comes after them, wherever the focus is by now.
    if (!held.length && !acts.length && (onTheirWay === 0 || inField(event.target))) return;
    const isPlain = !ctrlKey && !metaKey;
    const isCommand = (ctrlKey || metaKey) && key === "Enter";
    const waits = held.length || acts.length ? (isPlain && EDITING.includes(key)) || isCommand : key === "Escape" || (bringsFocus && isPlain && [" ", "Tab", "Enter"].includes(key));
    const isArrow = isPlain && ARROWS[key] && (shiftKey || bringsFocus || held.length || acts.length);
    if (!waits && !isArrow && !(isPlain && /^\S$/u.test(key))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    held.push({ key, code, ctrlKey, metaKey, shiftKey });
  },
  true,
);
onMain(() => {
  onTheirWay = 0;
  bringsFocus = false;
  held = [];
  acts = [];
});
