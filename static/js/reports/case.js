// The page of a case. J and K go through the list that it was opened from, Escape goes back to it.
import "../keys.js";
import { onEscape } from "./acts.js";

onEscape(() => document.querySelector("[data-back]").click());
document.querySelector("[data-dispute]")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("dispute").open = true;
  document.getElementById("d-why").focus();
});
