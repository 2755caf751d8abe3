// The pages on which people answer one case after the other. A value's key chooses it; Enter then sends it, as in any form.
// What is entered is kept in this browser until the server has taken it.
import "./keys.js";
import "./labeling/acts.js";
import { changed, draftKey } from "./labeling/drafts.js";
import { submit } from "./labeling/outbox.js";
import { fieldsOf } from "./labeling/server.js";
import { read } from "./labeling/storage.js";

const form = document.querySelector("form[data-work]");

const fill = ([name, value]) => {
  if (name === "case") return;
  const fields = [...form.querySelectorAll(`[name="${CSS.escape(name)}"]`)];
  const choice = fields.find((field) => field.type === "radio" && field.value === value);
  if (choice) choice.checked = true;
  else if (fields[0]?.matches("textarea, [type=number]")) fields[0].value = value;
};
const kept = read(draftKey(document.getElementById("main").dataset.slot));
if (Array.isArray(kept?.fields)) kept.fields.forEach(fill);

document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.matches("input[type=radio]")) event.target.focus();
});
document.addEventListener("input", (event) => event.target.form === form && changed());
document.addEventListener("submit", (event) => {
  if (event.target !== form) return;
  event.preventDefault();
  if (form.inert) return;
  const name = event.submitter?.name;
  const value = event.submitter?.value;
  const fields = fieldsOf(form);
  submit(form.action, name ? [...fields.filter(([field]) => field !== name), [name, value]] : fields);
});
