// A changed filter shows at once and takes the place of the address it came from.
import { stay } from "./places.js";

const DEFAULTS = { view: "first", unit: "trial", order: "error", measure: "count" };

export const query = (form) => {
  const parameters = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (value && DEFAULTS[name] !== value) parameters.set(name, value);
  }
  return parameters.toString();
};

export const submitOnChange = (form) => {
  form.addEventListener("change", () => {
    const asked = query(form);
    stay();
    location.replace(asked ? `?${asked}` : location.pathname);
  });
};
