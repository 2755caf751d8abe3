// Counts what is selected in a list, selects all of a page, and a range with Shift; Escape selects nothing.
const boxesOf = (form) => [...form.querySelectorAll("input[name=example]")];
const last = new WeakMap();

const show = (form) => {
  const boxes = boxesOf(form);
  const all = form.querySelector("[data-select-all]");
  const count = boxes.filter((box) => box.checked).length;
  form.querySelector("[data-selected]").textContent = count ? `${count} selected` : "";
  all.hidden = false;
  all.checked = count === boxes.length;
  all.indeterminate = count > 0 && count < boxes.length;
  for (const button of form.querySelectorAll("button[name=act]")) button.disabled = count === 0;
  for (const box of boxes) box.closest("tr").classList.toggle("is-on", box.checked);
};
const select = (form, boxes, checked) => {
  for (const box of boxes) box.checked = checked;
  show(form);
};

document.addEventListener("click", (event) => {
  const form = event.target instanceof Element && event.target.closest("[data-selection]");
  if (!form) return;
  const boxes = boxesOf(form);
  if (event.target.matches("[data-select-all]")) select(form, boxes, event.target.checked);
  const at = boxes.indexOf(event.target);
  if (at < 0) return;
  const from = event.shiftKey && last.has(form) ? last.get(form) : at;
  last.set(form, at);
  select(form, boxes.slice(Math.min(at, from), Math.max(at, from) + 1), boxes[at].checked);
});
document.addEventListener("keydown", (event) => {
  const form = event.key === "Escape" && document.querySelector("[data-selection]:has(input[name=example]:checked)");
  if (form) select(form, boxesOf(form), false);
});
const begin = () => {
  const form = document.querySelector("[data-selection]");
  if (form) show(form);
};
begin();
document.addEventListener("htmx:load", begin);
