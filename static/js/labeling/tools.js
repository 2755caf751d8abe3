// The list of tools: found by typing a part of the name or the description, chosen by Enter, a number or a click.
const rows = () => [...document.querySelectorAll(".tools-list .tool-row")];

const filter = (text) => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows()) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  const none = document.querySelector("[data-no-tool]");
  if (none) none.hidden = rows().some((row) => !row.hidden);
};

document.addEventListener("input", (event) => event.target.matches("#find") && filter(event.target.value));
document.addEventListener("keydown", (event) => {
  if (!event.target.matches?.("#find")) return;
  const first = rows().find((row) => !row.hidden);
  if (event.key === "Enter") {
    event.preventDefault();
    if (!first) return;
    first.click();
    document.dispatchEvent(new CustomEvent("tool-chosen"));
    event.target.value = "";
    filter("");
  } else if (event.key === "ArrowDown" && first) {
    event.preventDefault();
    first.querySelector("input").focus();
  } else if (event.key === "Escape") {
    event.target.value = "";
    filter("");
  }
});
