// Reading a conversation: a message or a result is copied as it was, and a value is shown as JSON instead of in lines.
import { loadAll } from "./turns.js";

const flash = (button, words) => {
  const before = button.dataset.words ?? button.textContent;
  button.dataset.words = before;
  button.textContent = words;
  setTimeout(() => (button.textContent = before), 1500);
};

const said = (element) => {
  const copy = element.cloneNode(true);
  for (const code of copy.querySelectorAll("sup")) code.remove();
  return copy.textContent;
};

const textOf = (part) => {
  const raw = part.querySelector("[data-raw]");
  return raw ? raw.textContent : [...part.querySelectorAll(".msg-text, pre")].map(said).join(part.querySelector("pre") ? "\n" : "");
};

// Where the page is not on a secure address, browsers give no clipboard: then the old way.
const put = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement("textarea"), { value: text, className: "visually-hidden" });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not copied");
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-part]");
  if (!button) return;
  const part = button.closest("[data-part]");
  try {
    if (!(await loadAll(part))) throw new Error("not whole");
    await put(textOf(part));
    flash(button, "Copied");
  } catch {
    flash(button, "Not copied");
  }
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-show-raw]");
  if (!button) return;
  const part = button.closest("[data-part]");
  const raw = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", raw);
  part.querySelector("[data-raw]").hidden = !raw;
  for (const read of part.querySelectorAll("[data-read]")) read.hidden = raw;
});
