// What is entered in a part of the form, and the same part as the server draws it anew: what was entered meanwhile stays.
import { chip } from "./arguments.js";

const controlsOf = (root) => [...root.querySelectorAll("[name]:not(button)")];
const isBox = (control) => control.matches("[type=radio], [type=checkbox]");
const isHidden = (control) => control.type === "hidden";
const wordsOf = (element) => element.closest("label, option")?.textContent.trim();

// By the name of a field: values kept out of sight (chips), values typed or chosen, boxes that are ticked.
export const enteredIn = (root) => {
  const entered = new Map();
  for (const control of controlsOf(root)) {
    const { name, value } = control;
    if (!entered.has(name)) entered.set(name, { listed: [], typed: [], ticked: [] });
    const one = entered.get(name);
    if (isHidden(control)) one.listed.push(value);
    else if (!isBox(control)) one.typed.push(value);
    else if (control.checked) one.ticked.push(value);
  }
  return entered;
};

const valuesOf = (one) => [...(one?.listed ?? []), ...(one?.ticked ?? []), ...(one?.typed ?? [])].filter(Boolean);
const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);
const sameValues = (left, right) => same(valuesOf(left), valuesOf(right));

const setOn = (control, attribute, isOn) => {
  control.toggleAttribute(attribute, isOn);
  control[attribute === "selected" ? "selected" : "checked"] = isOn;
};

const setText = (control, value) => {
  if (control.matches("textarea")) control.textContent = value;
  else control.setAttribute("value", value);
};

const setHidden = (controls, values, name) => {
  const [first] = controls;
  const made = values.map((value) => Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  first.before(...made);
  for (const control of controls) control.remove();
};

const setChips = (input, { listed, ticked, typed }) => {
  for (const old of input.parentElement.querySelectorAll(".chip")) old.remove();
  input.before(...[...listed, ...ticked].map((value) => chip(value, input.name)));
  setText(input, typed[0] ?? "");
};

// Enters into one field, as it is drawn anew, what was entered meanwhile.
const enter = (controls, mine) => {
  const values = valuesOf(mine);
  const isChosen = (control) => values.includes(control.value) || values.includes(wordsOf(control));
  const boxes = controls.filter(isBox);
  const field = controls.find((control) => !isBox(control) && !isHidden(control));
  for (const box of boxes) setOn(box, "checked", isChosen(box));
  if (boxes.length) return;
  if (!field) setHidden(controls, mine.listed.length ? mine.listed : values, controls[0].name);
  else if (field.matches("[data-chips] > input")) setChips(field, mine);
  else if (field.matches("select")) for (const option of field.options) setOn(option, "selected", isChosen(option));
  else setText(field, values[0] ?? "");
};

// A call that is no longer open keeps what was entered into it, out of sight.
const keepAside = (root, name, mine) => {
  const call = name.match(/^c(\d+)\./)?.[1];
  const isClosed = call && root.querySelector("input[name=open]")?.value !== call;
  if (!isClosed || !root.querySelector(`input[name="c${call}.tool"]`)) return;
  for (const value of valuesOf(mine)) root.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
};

// A text of several lines keeps its lines, even where one line was sent.
const keepLines = (controls, shown) => {
  const field = controls.find((control) => control.matches("input[data-text]"));
  const old = field && shown.querySelector(`textarea[data-text]#${CSS.escape(field.id)}`);
  if (!old) return controls;
  const area = old.cloneNode(false);
  area.textContent = field.value;
  field.replaceWith(area);
  return controls.map((control) => (control === field ? area : control));
};

const chipsOf = (root, name) => root.querySelector(`[data-chips] > input[name="${CSS.escape(name)}"]`);

// Puts into `fresh`, which the server has drawn for what was `sent`, what was entered into `shown` since; returns whether
// there was any. A chip that is being typed is not made one by the server.
export const keepEntered = (fresh, shown, sent) => {
  const drawn = enteredIn(fresh);
  const place = fresh.firstElementChild;
  let kept = false;
  for (const [name, mine] of enteredIn(shown)) {
    const before = sent.get(name);
    const isChanged = !same(mine, before);
    const isTyping = chipsOf(shown, name) && chipsOf(fresh, name) && sameValues(drawn.get(name), before);
    if (!isChanged && !isTyping) continue;
    kept ||= isChanged;
    const controls = controlsOf(fresh).filter((control) => control.name === name);
    if (controls.length) enter(keepLines(controls, shown), mine);
    else keepAside(place, name, mine);
  }
  for (const row of fresh.querySelectorAll("[data-path]:has(select.matcher)")) {
    row.classList.toggle("is-unnamed", row.querySelector("select.matcher").value === "unnamed");
  }
  return kept;
};
