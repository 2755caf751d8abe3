// The context and the system's words are open, or folded, as this person left them last. A conversation that is longer
// than its pane opens at the turn that is asked about.
import { read, write } from "./storage.js";
import { onMain } from "./swap.js";

const keyOf = (fold) => `fold:${fold}`;

document.addEventListener("click", (event) => {
  const summary = event.target.closest("[data-fold] > summary");
  // It opens or folds after the click.
  if (summary) write(keyOf(summary.parentElement.dataset.fold), !summary.parentElement.open);
});

const foldAsLeft = (main) => {
  for (const fold of main.querySelectorAll("[data-fold]")) fold.open = read(keyOf(fold.dataset.fold)) ?? fold.open;
};

const showAsked = (main) => {
  const pane = main.querySelector(".conversation");
  const asked = pane?.querySelector(".msg-now");
  if (!asked) return;
  const [frame, turn] = [pane.getBoundingClientRect(), asked.getBoundingClientRect()];
  // A little of what came before stays in sight.
  if (turn.bottom > frame.bottom) pane.scrollTop += turn.top - frame.top - pane.clientHeight / 4;
};

onMain((main) => {
  foldAsLeft(main);
  showAsked(main);
});
