// Chinese and Japanese have no spaces between words: the browser tells them apart, and those that may be a value, of Han
// or of katakana, can be sent to an argument like others. All values then have new codes, in reading order.
const WIDE = /[\p{Script=Han}\p{Script=Katakana}]{2}/u;
const WORD = /^[\p{Script=Han}\p{Script=Katakana}ー々]{2,}$/u;
const MOST = 26 * 26;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

const nodesOf = (root) => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    WIDE.test(node.data) && !node.parentElement.closest("button, .k") ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP,
  );
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
};

const pickOf = (word) => {
  const pick = Object.assign(document.createElement("button"), { type: "button", className: "pick", tabIndex: -1, dir: "auto", textContent: word });
  pick.dataset.value = word;
  const code = document.createElement("sup");
  code.setAttribute("aria-hidden", "true");
  pick.append(code);
  return pick;
};

const cut = (node, segmenter) => {
  const parts = [];
  for (const { segment, isWordLike } of segmenter.segment(node.data)) {
    if (isWordLike && WORD.test(segment)) parts.push(pickOf(segment));
    else if (typeof parts.at(-1) === "string") parts.push(parts.pop() + segment);
    else parts.push(segment);
  }
  node.replaceWith(...parts);
};

const recode = (picks) => {
  const places = new Map();
  for (const { dataset } of picks) if (!places.has(dataset.value)) places.set(dataset.value, places.size);
  for (const pick of picks) {
    const place = places.get(pick.dataset.value);
    if (place >= MOST) {
      pick.replaceWith(pick.dataset.value);
      continue;
    }
    pick.dataset.code = places.size <= LETTERS.length ? LETTERS[place] : LETTERS[Math.floor(place / LETTERS.length)] + LETTERS[place % LETTERS.length];
    pick.querySelector("sup").textContent = pick.dataset.code;
  }
};

export const markWords = (main) => {
  const nodes = [...main.querySelectorAll("[data-pickable] :is(.msg-text, pre[data-read], .more pre)")].flatMap(nodesOf);
  if (!nodes.length || !Intl.Segmenter) return;
  const segmenter = new Intl.Segmenter(["ja", "zh"], { granularity: "word" });
  for (const node of new Set(nodes)) cut(node, segmenter);
  recode([...main.querySelectorAll("[data-pickable] .pick")]);
};
