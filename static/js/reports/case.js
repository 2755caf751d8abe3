// The page of a case. J and K go through the list that it was opened from, Escape goes back to it.
import "../keys.js";
import { onEscape } from "./acts.js";

onEscape(() => document.querySelector("[data-back]").click());
document.querySelector("[data-dispute]")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("dispute").open = true;
  document.getElementById("d-why").focus();
});

// What is unfolded stands in the address, and the cases before and after open the same.
const folds = [...document.querySelectorAll("details[data-fold]")];
const withOpened = (address) => {
  const url = new URL(address, location.href);
  const opened = folds.filter((fold) => fold.open).map((fold) => fold.dataset.fold).join(",");
  if (opened) url.searchParams.set("open", opened);
  else url.searchParams.delete("open");
  return url;
};
for (const fold of folds) {
  fold.addEventListener("toggle", () => {
    history.replaceState(history.state, "", withOpened(location.href));
    for (const link of document.querySelectorAll('a[data-key="j"], a[data-key="k"]')) link.href = withOpened(link.href);
  });
}
