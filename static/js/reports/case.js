// The page of a case: its keys. J and K go through the list that it was opened from, Escape goes back to it.
import { listKeys, onKeys, press } from "./keys.js";

listKeys();
onKeys({
  j: press('[data-go="next"]'),
  k: press('[data-go="previous"]'),
  c: press("[data-copy-link]"),
  d: () => {
    const field = document.getElementById("d-why");
    if (!field) return false;
    field.focus();
    return true;
  },
  Escape: press("[data-back]"),
});
document.querySelector("[data-dispute]")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("d-why").focus();
});
