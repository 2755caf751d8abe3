// The keyboard of a page. An element with data-key="s" is clicked by that key, a field is focused; the "?" sheet, a
// <dialog id="keys">, lists them. Single keys rest while one types in a field and can be switched off in the sheet.
const FIELDS = "input:not([type=radio], [type=checkbox], [type=button], [type=submit]), textarea, select, [contenteditable]";
const STORED = "single-keys";

const isOn = () => {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
};

export const inField = (target) => target instanceof Element && target.matches(FIELDS);
export const isVisible = (element) => element.checkVisibility() && !element.closest("[hidden], [inert]");
const openDialog = () => document.querySelector("dialog[open]");

// The name of a key press: "s", "?", "ctrl+enter", "shift+arrowleft".
export const nameOf = (event) => {
  const key = event.key.toLowerCase();
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key)) ? "shift+" : "";
  return `${event.ctrlKey || event.metaKey ? "ctrl+" : ""}${event.altKey ? "alt+" : ""}${shift}${key}`;
};

const handlers = [];
// Calls `handler(name, event)` before the page's own keys; true from it ends the matter.
export const onKey = (handler) => handlers.push(handler);

const press = (element) => {
  if (inField(element) || element.matches("textarea")) element.focus();
  else element.click();
};

const pressed = (event) => {
  const name = nameOf(event);
  const single = !name.startsWith("ctrl+");
  if (event.isComposing || name === "escape" || (single && (!isOn() || inField(event.target) || event.altKey))) return;
  if (openDialog()) return;
  if (handlers.some((handler) => handler(name, event))) {
    event.preventDefault();
    return;
  }
  const element = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === name && isVisible(one));
  if (!element || element.disabled) return;
  event.preventDefault();
  press(element);
};

const escape = (event) => {
  if (event.key !== "Escape" || openDialog()) return;
  if (inField(event.target)) event.target.blur();
  else document.querySelector(".drawer.is-open [data-drawer]")?.click();
};

export const open = (id) => {
  const dialog = document.getElementById(id);
  if (dialog && !dialog.open) dialog.showModal();
};

document.addEventListener("keydown", pressed);
document.addEventListener("keydown", escape);
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (opener) open(opener.dataset.open);
  if (event.target.closest("[data-close]") || event.target.matches("dialog")) event.target.closest("dialog")?.close();
});
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-single-keys]")) return;
  try {
    localStorage.setItem(STORED, event.target.checked ? "on" : "off");
  } catch {
    // not kept
  }
});
onKey((name) => name === "?" && Boolean(document.getElementById("keys")) && (open("keys"), true));

// Shows the "?" button on a page that has a sheet, and the sheet's switch as it stands. Again after every swap.
export const showKeys = () => {
  for (const button of document.querySelectorAll("[data-open=keys]")) button.hidden = !document.getElementById("keys");
  for (const box of document.querySelectorAll("[data-single-keys]")) box.checked = isOn();
};
showKeys();
