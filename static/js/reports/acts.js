// Keys that do more than press a button. `acts`: key -> what it does; returning false leaves the key to the browser.
import { onKey } from "../keys.js";

export const onKeys = (acts) => onKey((name) => Object.hasOwn(acts, name) && acts[name]() !== false);

// Escape goes one step out, except out of fields and dialogs, which leave by themselves.
export const onEscape = (act) => {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector("dialog[open], details[data-menu][open]")) return;
    if (event.target instanceof Element && event.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")) return;
    act();
  });
};
