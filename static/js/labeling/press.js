// The page of a person's keys: a key pressed in a field becomes its name. Tab, Enter, Escape and what edits a text stay.
import { nameOf } from "../keys.js";

const EDITING = ["tab", "shift+tab", "enter", "escape", "backspace", "delete", "shift", "control", "alt", "meta", "altgraph", "unidentified", "dead", "process", " "];

document.addEventListener("keydown", (event) => {
  if (!event.target.matches?.("[data-press]") || event.isComposing) return;
  const name = nameOf(event);
  const key = event.key.toLowerCase();
  if (EDITING.includes(key) || name === "ctrl+c" || name === "ctrl+v") return;
  event.preventDefault();
  event.target.value = name;
});
