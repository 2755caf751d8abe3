// The list of a document's tools before they are published: search, tags, ticks and their count.
const rowsOf = (choice) => [...choice.querySelectorAll("[data-choice-row]")];
const boxOf = (row) => row.querySelector("input[type=checkbox]");

const count = (choice) => {
  choice.querySelector("[data-choice-count]").textContent = rowsOf(choice).filter((row) => boxOf(row).checked).length;
};
const filter = (choice) => {
  const words = choice.querySelector("[data-choice-search]").value.toLowerCase().split(/\s+/).filter(Boolean);
  const tag = choice.querySelector("[data-choice-tag]")?.value;
  for (const row of rowsOf(choice)) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word)) || Boolean(tag && !row.dataset.tags.includes(`|${tag}|`));
  }
};
const choiceOf = (event) => event.target.closest?.("[data-tool-choice]");

document.addEventListener("input", (event) => {
  const choice = choiceOf(event);
  if (!choice) return;
  if (event.target.matches("[data-choice-search], [data-choice-tag]")) filter(choice);
  else count(choice);
});
document.addEventListener("keydown", (event) => {
  // Else the form would be sent.
  if (event.key === "Enter" && event.target.matches?.("[data-choice-search]")) event.preventDefault();
});
document.addEventListener("click", (event) => {
  const tick = event.target.closest?.("[data-choice-tick]");
  if (!tick) return;
  const choice = choiceOf(event);
  for (const row of rowsOf(choice)) if (!row.hidden && !boxOf(row).disabled) boxOf(row).checked = tick.dataset.choiceTick === "shown";
  count(choice);
});
