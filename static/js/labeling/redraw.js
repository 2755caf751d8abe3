// A part of the form that the server draws anew (`hx-swap="redraw"`): the fields that stay are the same elements, with
// the focus, the caret and what was entered while the answer was on its way.
import { Idiomorph } from "../../vendor/idiomorph/idiomorph.esm.js";
import { signedOut } from "../session.js";
import { enteredIn, keepEntered } from "./entered.js";
import { fieldsOf } from "./server.js";
import { whileSwapping } from "./swap.js";

const isRedraw = (event) => Boolean(event.detail.target?.matches("#panel, #outcome"));
// What each part held when the request on its way was sent, and which tool was chosen.
const sent = new WeakMap();
// The form as the server has drawn it: asked again for the same, it would draw the same.
let drawnFor = "";

const form = () => document.querySelector("form[data-work]");
const contentOf = () => JSON.stringify(fieldsOf(form()).filter(([name]) => name !== "seconds"));
const toolOf = () => document.querySelector("input[name=tool]:checked")?.value;
export const chosenWhenSent = (target) => sent.get(target)?.tool;
// Whether the focus is where it was when the part was asked for, or nowhere.
export const isFocusFree = (target) => [sent.get(target)?.focus, document.body, null].includes(document.activeElement);

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isRedraw(event)) return;
  const { to } = event.detail.requestConfig.parameters;
  if ((to ?? "") === "tool" && drawnFor === contentOf()) event.preventDefault();
});
document.addEventListener("htmx:beforeSend", (event) => {
  if (!isRedraw(event)) return;
  drawnFor = "";
  sent.set(event.detail.target, { entered: enteredIn(event.detail.target), tool: toolOf(), focus: document.activeElement });
});
// Another page, such as the one to sign in on, is no part of the form.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { shouldSwap, xhr, requestConfig } = event.detail;
  if (!isRedraw(event) || !shouldSwap || new URL(xhr.responseURL).pathname === new URL(requestConfig.path, location.href).pathname) return;
  event.detail.shouldSwap = false;
  signedOut();
});

// The fields behind the one that had the focus when the part was drawn anew, by their ids.
let behind = [];
const fieldsBehind = (target) => {
  const fields = [...target.querySelectorAll("[data-value][id]"), document.getElementById("rationale")];
  const at = fields.indexOf(document.activeElement);
  return at < 0 ? [] : fields.slice(at + 1).map((one) => one.id);
};

// Where the field with the focus is gone, the next one that is still there has it.
export const focusBehind = () => {
  if (document.activeElement === document.body) behind.map((id) => document.getElementById(id)).find(Boolean)?.focus();
};

// What a person has unfolded stays so.
const beforeAttributeUpdated = (name, element) => name !== "open" || !element.matches("details");

window.htmx.defineExtension("redraw", {
  isInlineSwap: (style) => style === "redraw",
  handleSwap: (style, target, fragment) => {
    if (style !== "redraw") return false;
    const before = sent.get(target);
    const kept = before ? keepEntered(fragment, target, before.entered) : false;
    behind = fieldsBehind(target);
    whileSwapping(() => Idiomorph.morph(target, [...fragment.childNodes], { morphStyle: "innerHTML", callbacks: { beforeAttributeUpdated } }));
    drawnFor = kept || toolOf() !== before?.tool ? "" : contentOf();
    return [...target.children];
  },
});
