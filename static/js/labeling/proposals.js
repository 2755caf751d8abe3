// Drafts of edge cases by keyboard: J K move, X marks, A accepts, D drops, E opens the words, M marks all.
const pane = document.querySelector("[data-proposals]");
const drafts = [...pane.querySelectorAll("[data-draft]")];
const boxes = drafts.map((draft) => draft.querySelector("input[name=mark]"));
const told = pane.querySelector("[data-marked]");
const PLACE = `drafts-place:${location.pathname}`;

const at = () => drafts.findIndex((draft) => draft.contains(document.activeElement));
const go = (place) => drafts[Math.max(0, Math.min(place, drafts.length - 1))]?.focus();
const press = (selector) => {
  const place = at();
  if (place >= 0) drafts[place].querySelector(selector).click();
};
const tell = () => {
  const count = boxes.filter((box) => box.checked).length;
  if (told) told.textContent = count ? `${count} marked.` : "Select drafts to accept or drop several at once.";
};
const markAll = () => {
  const all = boxes.every((box) => box.checked);
  for (const box of boxes) box.checked = !all;
  tell();
};

// Words are sent only where they are open to be changed.
for (const details of pane.querySelectorAll(".draft-edit")) {
  const field = details.querySelector("textarea");
  details.addEventListener("toggle", () => {
    field.disabled = !details.open;
    if (details.open) field.focus();
  });
}
for (const box of boxes) box.addEventListener("change", tell);
pane.querySelector("[data-mark-all]")?.addEventListener("click", markAll);
pane.querySelector("form:has([data-draft])")?.addEventListener("submit", () => {
  sessionStorage.setItem(PLACE, String(Math.max(0, at())));
});

const keys = {
  j: () => go(at() + 1),
  k: () => go(at() - 1),
  x: () => press("input[name=mark]"),
  a: () => press("[data-accept]"),
  d: () => press("[data-drop]"),
  e: () => press("summary"),
  m: markAll,
  A: () => pane.querySelector("[data-accept-marked]")?.click(),
  D: () => pane.querySelector("[data-drop-marked]")?.click(),
};
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("textarea, select, input:not([type=checkbox])");
  if (event.key === "Escape" && typing) typing.closest("[data-draft]")?.focus();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

const before = sessionStorage.getItem(PLACE);
if (before !== null) {
  sessionStorage.removeItem(PLACE);
  go(Number(before));
}
