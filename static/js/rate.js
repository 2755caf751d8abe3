// The page on which people rate a judge's cases. A value's key chooses it; Enter then sends it, as in any form.
import "./keys.js";

document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.matches("input[type=radio]")) event.target.focus();
});
