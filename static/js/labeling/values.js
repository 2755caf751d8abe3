import { isoOf } from "./dates.js";

// What a value of the conversation is in a control: one of its options, a number, a text; or why it is none of them.
const OPEN_NUMBER = /^(?:[$€£¥]\s?|[A-Z]{3}\s)?([+-]?(?:\d{1,3}(?:,\d{3})+|0|[1-9]\d*)(?:\.\d+)?)(?:\s?[€£¥])?$/u;

const literalOf = (text) => {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
};

// A number as the form takes it: "$1,250.00" is 1250.00, and 1250 where it is to be whole. An id is none.
const numberOf = (text, isWhole) => {
  const found = text.trim().match(OPEN_NUMBER)?.[1].replaceAll(",", "").replace(/^\+/, "");
  if (found === undefined || !isWhole) return found;
  return /^-?\d+(?:\.0+)?$/.test(found) ? found.replace(/\..*/, "") : undefined;
};

const namesOf = ({ value, shown, title }) => [shown, value, literalOf(value), title].filter(Boolean).map((name) => name.trim());

// The options that go by a name: just so, else whatever the case.
const optionsCalled = (options, text) => {
  const wanted = text.trim();
  const exact = options.filter((option) => namesOf(option).includes(wanted));
  if (exact.length) return exact;
  return options.filter((option) => namesOf(option).some((name) => name.toLowerCase() === wanted.toLowerCase()));
};

// The options of a control as { value, shown, title, element }; none where anything may be entered.
export const optionsOf = (control) => {
  const described = (element, shown) => ({ value: element.value, shown, title: element.dataset.title, element });
  if (control.matches("select")) return [...control.options].filter((one) => one.value).map((one) => described(one, one.textContent));
  if (control.matches("[type=radio], [type=checkbox]")) {
    return [...control.closest("[role]").querySelectorAll("[data-value]")].map((one) => described(one, one.closest("label").textContent));
  }
  return [...(control.list?.options ?? [])].map((one) => described(one, one.value));
};

// Returns { value, option }, or { problem } in words.
/** @returns {{ value?: any, option?: HTMLElement, problem?: string }} */
export const fitting = (control, text) => {
  const row = control.closest("[data-path]");
  const name = row?.querySelector(".name")?.firstChild.textContent.trim() ?? "this field";
  const options = optionsOf(control);
  if (options.length) {
    const found = optionsCalled(options, text);
    if (found.length === 1) return { value: found[0].value, option: found[0].element };
    return { problem: `“${text}” is ${found.length ? "more than one" : "not an"} option of ${name}` };
  }
  const takes = row?.dataset.takes;
  if (takes === "date") return { value: isoOf(text) ?? text };
  if (takes !== "integer" && takes !== "number") return { value: takes === "json" && !control.value ? JSON.stringify(text) : text };
  const number = numberOf(text, takes === "integer");
  return number === undefined ? { problem: `“${text}” is not a ${takes === "integer" ? "whole " : ""}number` } : { value: number };
};
