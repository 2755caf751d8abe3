// Values of the conversation go into the argument that has, or last had, the focus: by a click, or by V and the code.
import { onKey } from "../keys.js";
import { addChip, isValue } from "./arguments.js";
import { onMain } from "./swap.js";

let target = null;
let typed = null;

const fields = () => [...document.querySelectorAll("#panel [data-value]")];
const field = () => (target?.isConnected ? target : fields().find((one) => one.id === target?.id) ?? fields().find((one) => !one.value));

const choose = (options, textOf, value) => options.find((option) => textOf(option).trim() === value);

const put = (control, value) => {
  if (control.matches("[data-chips] > input")) return addChip(control, value);
  if (control.matches("[type=radio], [type=checkbox]")) {
    const options = [...control.closest("[role]").querySelectorAll("[data-value]")];
    choose(options, (option) => option.closest("label").textContent, value)?.click();
  } else if (control.matches("select")) {
    const option = choose([...control.options], (one) => one.textContent, value);
    if (option) control.value = option.value;
  } else if (control.matches("#json")) {
    control.setRangeText(value, control.selectionStart, control.selectionEnd, "end");
  } else {
    control.value = value;
  }
  control.dispatchEvent(new Event("input", { bubbles: true }));
};

const send = (pick) => {
  const control = field();
  if (!control) return;
  put(control, pick.dataset.value);
  const from = control.closest("[data-path]")?.querySelector("[data-from]");
  if (from) from.textContent = `from “${pick.dataset.value}”, turn ${pick.dataset.turn}`;
  control.focus();
};

export const markUsed = () => {
  const used = new Set([...document.querySelectorAll("#panel [name]")].filter((one) => isValue(one.name)).map((one) => one.value));
  for (const pick of document.querySelectorAll(".pick")) pick.classList.toggle("is-used", used.has(pick.dataset.value));
};

const stop = () => {
  typed = null;
  document.body.classList.remove("is-picking");
};

onKey((name, event) => {
  if (typed === null && name !== "v") return false;
  if (typed === null) {
    if (!document.querySelector(".pick") || !fields().length) return false;
    typed = "";
    document.body.classList.add("is-picking");
    return true;
  }
  typed += name.length === 1 ? name : "";
  const open = [...document.querySelectorAll(".pick")].filter((pick) => pick.dataset.code.startsWith(typed));
  if (open.length && open[0].dataset.code !== typed) return true;
  stop();
  if (open.length) send(open[0]);
  return true;
});
onKey((name) => {
  if (name !== "m") return false;
  const matcher = (field()?.closest("[data-path]") ?? document.querySelector("#panel [data-path]"))?.querySelector("select.matcher");
  matcher?.focus();
  return Boolean(matcher);
});

document.addEventListener("keydown", (event) => event.key === "Escape" && stop());
document.addEventListener("focusin", (event) => {
  if (event.target.matches("#panel [data-value], #json")) target = event.target;
});
// The focus stays in the field while one clicks a value.
document.addEventListener("mousedown", (event) => event.target.closest(".pick") && event.preventDefault());
document.addEventListener("click", (event) => {
  const pick = event.target.closest(".pick");
  if (pick) send(pick);
});
document.addEventListener("input", markUsed);
onMain(() => {
  target = null;
  stop();
  markUsed();
});
