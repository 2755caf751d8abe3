// Keys pressed while the pane is on its way: they wait for it, in their order. Where it brings the focus to a text field
// they are typed there, elsewhere they do what they do on the page.
import { inField } from "../keys.js";
import { onMain } from "./swap.js";

const TYPED = "input:not([type=radio], [type=checkbox]), textarea";
const EDITING = ["Backspace", "Enter", "Escape", "Tab", " "];
const STOPS = "a[href], button, input, select, textarea, summary, [tabindex='0']";
let onTheirWay = 0;
let held = [];

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

// Does what a key would have done.
const press = (kept) => {
  const at = document.activeElement ?? document.body;
  const isText = at.matches(TYPED);
  if (kept.key === "Tab") goOn(at, kept.shiftKey ? -1 : 1);
  else if (isText && kept.key === "Backspace") document.execCommand("delete");
  else if (isText && kept.key.length === 1 && !kept.ctrlKey && !kept.metaKey) document.execCommand("insertText", false, kept.key);
  else at.dispatchEvent(new KeyboardEvent("keydown", { ...kept, bubbles: true, cancelable: true }));
};

const flush = () => {
  while (held.length && onTheirWay === 0) press(held.shift());
};

export const expectPane = () => (onTheirWay += 1);
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
    if (!event.isTrusted || (onTheirWay === 0 && !held.length) || inField(event.target) || event.isComposing || altKey) return;
    const isPlain = !ctrlKey && !metaKey;
    const isCommand = (ctrlKey || metaKey) && key === "Enter";
    const waits = held.length ? (isPlain && EDITING.includes(key)) || isCommand : key === "Escape";
    if (!waits && !(isPlain && /^\S$/u.test(key)) && !(isPlain && shiftKey && key.startsWith("Arrow"))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    held.push({ key, code, ctrlKey, metaKey, shiftKey });
  },
  true,
);
onMain(() => {
  onTheirWay = 0;
  held = [];
});
