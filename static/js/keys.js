// The keyboard of a page. An element with data-key="s" is clicked by that key, a field is focused; the "?" sheet, a
// <dialog id="keys">, lists them, and names those that a person has moved. Single keys rest while one types in a field
// and can be switched off in the sheet.
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

// A person's own keys, which the page's sheet names. The page itself speaks of the usual ones.
let moved = [];
const usualOf = (name) => {
  if (document.body.classList.contains("is-picking")) return name;
  const own = moved.find((one) => one.own === name);
  if (own) return own.usual;
  return moved.some((one) => one.usual === name) ? "" : name;
};
const drawn = (key) => key.textContent.trim().replace(/\s+/g, " ");
const redraw = (root) => {
  for (const key of moved.length ? root.querySelectorAll("kbd.key:not([data-fixed])") : []) {
    const own = moved.find((one) => one.drawn === drawn(key));
    if (!own) continue;
    key.textContent = own.redrawn;
    key.dataset.fixed = "";
  }
};
const readMoved = () => {
  const kept = document.getElementById("moved-keys");
  moved = kept ? JSON.parse(kept.textContent) : [];
  redraw(document);
};
document.addEventListener("htmx:afterSettle", (event) => redraw(event.target));

const handlers = [];
// Calls `handler(name, event)` before the page's own keys; true from it ends the matter. The name is the usual key's.
export const onKey = (handler) => handlers.push(handler);

const activate = (element) => {
  if (inField(element) || element.matches("textarea")) element.focus();
  else element.click();
};

// What a key stands for on the page as it is now.
export const keyed = (name) => [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === name && isVisible(one));
// Does what the key stands for; false where there is nothing, or nothing to be done now.
export const pressKey = (name) => {
  const element = keyed(name);
  if (!element || element.disabled) return false;
  activate(element);
  return true;
};

const pressed = (event) => {
  const press = nameOf(event);
  const single = !press.startsWith("ctrl+");
  if (event.isComposing || press === "escape" || (single && (!isOn() || inField(event.target) || event.altKey))) return;
  if (openDialog()) return;
  const name = usualOf(press);
  if (!name) return;
  if (handlers.some((handler) => handler(name, event))) {
    event.preventDefault();
    return;
  }
  if (pressKey(name)) event.preventDefault();
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
  readMoved();
  for (const button of document.querySelectorAll("[data-open=keys]")) button.hidden = !document.getElementById("keys");
  for (const box of document.querySelectorAll("[data-single-keys]")) box.checked = isOn();
};
showKeys();
