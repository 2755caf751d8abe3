// Offers the names of members after an @ in a text field that names where they are listed (data-mentions).

const BEGUN = /(?<!\w)@([\p{L}\p{N}](?:[^@\n]{0,40}\S)?)?$/u;
let asked = 0;
/** @type {HTMLTextAreaElement | null} */
let current = null;

/** @param {HTMLTextAreaElement} area */
const begun = (area) => BEGUN.exec(area.value.slice(0, area.selectionStart));
/** @param {Event} event */
const areaOf = (event) => event.target instanceof HTMLTextAreaElement && event.target.dataset.mentions ? event.target : null;
const options = () => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#mention-names [role=option]"))];

const close = () => {
  asked += 1;
  document.getElementById("mention-names")?.remove();
  current?.removeAttribute("aria-activedescendant");
  current = null;
};

/** @param {HTMLTextAreaElement} area */
const offer = async (area) => {
  const match = begun(area);
  if (!match) return close();
  const turn = (asked += 1);
  const answer = await fetch(`${area.dataset.mentions}?q=${encodeURIComponent(match[1] ?? "")}`).catch(() => null);
  if (turn !== asked || !answer?.ok) return;
  const list = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("mention-names");
  if (turn !== asked) return;
  document.getElementById("mention-names")?.remove();
  if (!list?.children.length) return;
  current = area;
  const place = area.getBoundingClientRect();
  list.style.left = `${place.left + scrollX}px`;
  (area.closest("dialog") ?? document.body).append(list);
  // Above the field where there is no room below.
  const below = place.bottom + list.offsetHeight < innerHeight;
  list.style.top = `${(below ? place.bottom : place.top - list.offsetHeight) + scrollY}px`;
  area.setAttribute("aria-controls", "mention-names");
  area.setAttribute("aria-activedescendant", list.children[0].id);
};

/** @param {HTMLTextAreaElement} area @param {string} name */
const choose = (area, name) => {
  const match = begun(area);
  if (match) area.setRangeText(`@${name} `, match.index, area.selectionStart, "end");
  close();
  area.dispatchEvent(new Event("input", { bubbles: true }));
  area.focus();
};

/** @param {HTMLTextAreaElement} area @param {number} step */
const move = (area, step) => {
  const all = options();
  const at = all.findIndex((option) => option.ariaSelected === "true");
  const next = all[(at + step + all.length) % all.length];
  for (const option of all) option.ariaSelected = String(option === next);
  area.setAttribute("aria-activedescendant", next.id);
};

document.addEventListener("input", (event) => {
  const area = areaOf(event);
  if (area) offer(area);
});
document.addEventListener("keydown", (event) => {
  const area = areaOf(event);
  if (!area || !options().length) return;
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in steps) move(area, steps[event.key]);
  else if (event.key === "Enter" || event.key === "Tab") choose(area, options().find((option) => option.ariaSelected === "true").dataset.name);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}, true);
document.addEventListener("pointerdown", (event) => {
  const option = event.target.closest?.("#mention-names [role=option]");
  if (!option) return close();
  event.preventDefault();
  if (current) choose(current, option.dataset.name);
});
