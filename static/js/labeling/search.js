// Find in the conversation: every match is marked, Enter goes to the next, Shift and Enter to the one before. What is
// folded is searched too, and unfolded where a match is shown. Other words fold it again.
import { onMain } from "./swap.js";
import { loadAll } from "./turns.js";

const MOST = 999;
// The title of folded words repeats how they begin; that of a call may say more than what is below it.
const BLOCKS = ".msgs .msg-text, .msgs pre:not([data-raw]), .msgs .io > summary:has(.tool)";
// Codes of values, and what the page adds to the words.
const NOT_SAID = "sup, button:not(.pick), .visually-hidden";
let ranges = [];
let here = -1;
// What the search itself unfolded.
const unfolded = [];

const field = () => document.getElementById("find-text");
const fold = (text) => {
  const folded = text.toLowerCase();
  return folded.length === text.length ? folded : text;
};

const nodesOf = (block) => {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest(NOT_SAID) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  const nodes = [];
  let start = 0;
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, start });
    start += walker.currentNode.length;
  }
  return nodes;
};

const rangeOf = (nodes, from, to) => {
  const at = (place) => nodes.findLast(({ start }) => start <= place);
  const range = document.createRange();
  const [first, last] = [at(from), at(to - 1)];
  range.setStart(first.node, from - first.start);
  range.setEnd(last.node, to - last.start);
  return range;
};

const matchesIn = (block, wanted) => {
  const nodes = nodesOf(block);
  const text = fold(nodes.map(({ node }) => node.data).join(""));
  const found = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) found.push(rangeOf(nodes, at, at + wanted.length));
  return found;
};

const mark = (name, some) => {
  if (!window.CSS?.highlights) return;
  if (some.length) CSS.highlights.set(name, new Highlight(...some));
  else CSS.highlights.delete(name);
};

const count = () => {
  const words = document.querySelector("[data-find-count]");
  if (!words) return;
  const wanted = field().value.trim();
  const total = ranges.length >= MOST ? `${MOST} or more` : ranges.length;
  words.textContent = ranges.length ? `${here + 1} of ${total}` : wanted ? "not found" : "";
  for (const button of document.querySelectorAll("[data-find-step]")) button.disabled = ranges.length === 0;
};

const show = (place) => {
  here = ranges.length ? (place + ranges.length) % ranges.length : -1;
  const range = ranges[here];
  mark("found-here", range ? [range] : []);
  if (range) {
    const element = range.startContainer.parentElement;
    const inSummary = element.closest("summary")?.parentElement;
    for (let part = element.closest("details"); part; part = part.parentElement.closest("details")) {
      if (part.open || part === inSummary) continue;
      part.open = true;
      unfolded.push(part);
    }
    element.scrollIntoView({ block: "center" });
  }
  count();
};

const search = () => {
  const wanted = fold(field()?.value.trim() ?? "");
  const blocks = wanted ? [...document.querySelectorAll(BLOCKS)] : [];
  ranges = blocks.flatMap((block) => matchesIn(block, wanted)).slice(0, MOST);
  mark("found", ranges);
  const before = unfolded.splice(0);
  for (const part of before) part.open = false;
  show(0);
};

// What is not in the page yet is fetched once, with the first words; meanwhile what is there is searched.
let isFetching = false;
const searchAll = async () => {
  search();
  const list = document.querySelector(".msgs");
  if (isFetching || !field().value.trim() || !list?.querySelector("[data-part-name]")) return;
  isFetching = true;
  const isWhole = await loadAll(list);
  isFetching = false;
  if (!list.isConnected) return;
  search();
  if (!isWhole) document.querySelector("[data-find-count]").append(" in what is loaded");
};

document.addEventListener("input", (event) => event.target === field() && searchAll());
document.addEventListener("keydown", (event) => {
  if (event.target !== field()) return;
  if (event.key === "Enter") {
    event.preventDefault();
    show(here + (event.shiftKey ? -1 : 1));
  } else if (event.key === "Escape") {
    field().value = "";
    search();
  }
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-find-step]");
  if (button) show(here + Number(button.dataset.findStep));
});
onMain(search);
