// A changed filter shows at once and takes the place of the address it came from.
import { stay } from "./places.js";

const DEFAULTS = { view: "first", unit: "trial", order: "error", measure: "count" };

export const query = (form) => {
  const parameters = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (name === "split_argument" && form.elements.split.value !== "value") continue;
    if (value && DEFAULTS[name] !== value) parameters.set(name, String(value));
  }
  return parameters.toString();
};

export const submitOnChange = (form) => {
  form.addEventListener("change", () => {
    // By a value nothing is divided until its argument is named.
    const { split, split_argument: argument } = form.elements;
    if (split?.value === "value" && argument && !argument.value.trim()) {
      argument.focus();
      return;
    }
    const asked = query(form);
    stay();
    location.replace(asked ? `?${asked}` : location.pathname);
  });
};
