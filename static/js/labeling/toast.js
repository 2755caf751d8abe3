// What was done last, in the action bar, for as long as it can be undone.
import { onMain } from "./swap.js";

const LONGEST = 30000;
let timer = 0;

const shown = () => document.querySelector("[data-toast]");
const start = () => {
  clearTimeout(timer);
  if (shown()) timer = setTimeout(() => shown()?.remove(), Number(shown().dataset.seconds) * 1000 || LONGEST);
};

// Stays as long as it is being undone.
export const keepToast = () => clearTimeout(timer);
// Takes the place of what was said before.
export const showToast = (toast) => {
  shown()?.remove();
  document.querySelector(".actions")?.insertBefore(toast, document.querySelector(".actions > .end"));
  start();
};
onMain(start);
