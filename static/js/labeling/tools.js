// The list of tools: found by typing a part of the name or the description, the best one first and chosen by Enter; or by
// a number or a click.
import { rankOf } from "./ranking.js";
import { onMain } from "./swap.js";

const list = () => document.querySelector(".tools-list");
const rows = () => [...(list()?.querySelectorAll(".tool-row") ?? [])];
const textOf = (row, part) => row.querySelector(part)?.textContent ?? "";
const nameOf = (row) => textOf(row, ".tool, .tool-answer").trim();
// As the server lists them: no call, the tools, the other answers.
const placeOf = (row) => {
  const { value } = row.querySelector("input");
  return value === "none" ? -1 : /^\d+$/.test(value) ? Number(value) : Infinity;
};
let best = null;

const tell = (text) => {
  const none = document.querySelector("[data-no-tool]");
  if (none) none.hidden = rows().some((row) => !row.hidden);
  for (const row of rows()) row.classList.toggle("is-best", row === best);
  best?.scrollIntoView({ block: "nearest" });
  const words = document.querySelector("[data-best-tool]");
  if (!words) return;
  const effect = best && textOf(best, ".fx");
  words.textContent = best ? `Enter chooses ${nameOf(best)}${effect ? `, ${effect}` : ""}` : text ? "Enter chooses nothing" : "";
};

const filter = (text) => {
  const isAsked = Boolean(text.trim());
  const ranks = new Map(rows().map((row) => [row, isAsked ? rankOf(text, nameOf(row), `${textOf(row, ".desc")} ${textOf(row, ".fx")}`) : 0]));
  const ordered = [...ranks.keys()].sort((one, other) => ranks.get(one) - ranks.get(other) || placeOf(one) - placeOf(other));
  for (const [row, rank] of ranks) row.hidden = rank < 0;
  list()?.prepend(...ordered.filter((row) => row.parentElement === list()));
  best = (isAsked && ordered.find((row) => !row.hidden)) || null;
  tell(text.trim());
};

const clear = (field) => {
  field.value = "";
  filter("");
};

document.addEventListener("input", (event) => event.target.matches("#find") && filter(event.target.value));
document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!field.matches?.("#find") || event.isComposing) return;
  if (event.key === "Enter") {
    event.preventDefault();
    if (!best) return;
    const chosen = best;
    clear(field);
    // What is typed from now on is for the first argument, once it is there.
    field.blur();
    chosen.click();
    chosen.scrollIntoView({ block: "nearest" });
    document.dispatchEvent(new CustomEvent("tool-chosen"));
  } else if (event.key === "ArrowDown" && rows().some((row) => !row.hidden)) {
    event.preventDefault();
    (best ?? rows().find((row) => !row.hidden)).querySelector("input").focus();
  } else if (event.key === "Escape") {
    clear(field);
  }
});
onMain(() => (best = null));
