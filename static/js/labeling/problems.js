// What is wrong with the label, as the server says it: beside each field once it was left, counted in the action bar.
let problems = [];
let left = new Set();
let all = false;

const pathOf = (control) => control.closest("[data-path]")?.dataset.path ?? control.name;
const errorFor = (path) => document.querySelector(`[data-error="${CSS.escape(path)}"]`);
const controlsOf = (error) => error.closest("[data-path]")?.querySelectorAll("[data-value]") ?? [];

const show = () => {
  const messages = new Map();
  for (const { field, message } of problems) {
    messages.set(field, messages.has(field) ? `${messages.get(field)}\n${message}` : message);
  }
  for (const error of document.querySelectorAll("[data-error]")) {
    const path = error.dataset.error;
    const message = all || left.has(path) ? messages.get(path) : undefined;
    error.hidden = !message;
    if (error.textContent !== (message ?? "")) error.textContent = message ?? "";
    for (const control of controlsOf(error)) {
      control.classList.toggle("is-invalid", Boolean(message) && !control.matches("[type=radio], [type=checkbox]"));
      if (message) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  }
  // What belongs to no field on the page is said below the form.
  const homeless = problems.filter((problem) => problem.field && !errorFor(problem.field));
  const whole = document.querySelector('[data-error=""]');
  if (whole && all && homeless.length && !messages.get("")) {
    whole.hidden = false;
    whole.textContent = homeless[0].message;
  }
  const count = document.querySelector("[data-remaining]");
  if (!count) return;
  count.hidden = messages.size === 0;
  count.textContent = `${messages.size} field${messages.size === 1 ? "" : "s"} to finish`;
};

export const setProblems = (found) => {
  problems = found;
  show();
};
// `next`: where the focus goes. A group of fields is left once the focus is outside of it.
export const leave = (control, next) => {
  left.add(pathOf(control));
  for (let group = control.closest(".arg-group"); group && !group.contains(next); group = group.parentElement.closest(".arg-group")) {
    left.add(group.querySelector(":scope > [data-error]").dataset.error);
  }
  show();
};
// What was not said yet of a field is not said while one is in it: only once it is left again.
export const enter = (control) => {
  const path = pathOf(control);
  if (errorFor(path)?.hidden && !all) left.delete(path);
};
// Another tool was chosen: none of its fields was left.
export const startOver = () => {
  left = new Set();
  all = false;
  show();
};
export const refresh = show;
export const forget = () => {
  problems = [];
  left = new Set();
  all = false;
};

export const focusFirstProblem = () => {
  all = true;
  show();
  for (const problem of problems) {
    const error = errorFor(problem.field);
    const control = error && (controlsOf(error)[0] ?? error.parentElement.querySelector("[data-opens]") ?? error.closest("fieldset, .json-edit, section")?.querySelector("textarea, input:not([type=search])"));
    if (control) return control.focus();
  }
};
document.addEventListener("click", (event) => event.target.closest("[data-remaining]") && focusFirstProblem());
