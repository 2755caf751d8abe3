// Earlier turns of a long conversation, and the rest of long texts, are no part of the page: each is fetched when it is
// opened, all of them before one looks for words.
import { get } from "./server.js";

const AT_ONCE = 100;
const missing = (root) => [...root.querySelectorAll("details[data-part-name]")];

const say = (part, words) => {
  let line = part.querySelector(":scope > [data-part-said]");
  if (!line) {
    line = Object.assign(document.createElement("p"), { className: "xs soft" });
    line.dataset.partSaid = "";
    line.setAttribute("role", "status");
    part.append(line);
  }
  line.textContent = words;
};

const put = (part, html) => {
  delete part.dataset.partName;
  part.querySelector(":scope > [data-part-said]")?.remove();
  part.append(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
};

const load = async (parts) => {
  const url = new URL(parts[0].closest("[data-parts-url]").dataset.partsUrl, location.href);
  for (const part of parts) url.searchParams.append("part", part.dataset.partName);
  for (const part of parts) say(part, "Loading");
  try {
    const { parts: drawn } = await (await get(url.href)).json();
    for (const part of parts) {
      if (drawn[part.dataset.partName] !== undefined) put(part, drawn[part.dataset.partName]);
      else put(part, '<p class="xs soft">Not there any more. Load the page again.</p>');
    }
    document.dispatchEvent(new CustomEvent("parts-shown"));
    return true;
  } catch {
    for (const part of parts) say(part, "Not loaded: the server did not answer. Close and open it to try again.");
    return false;
  }
};

// Fetches all that is missing in an element; what comes may have rests of its own. Returns whether all is there.
export const loadAll = async (root) => {
  for (let parts = missing(root); parts.length; parts = missing(root)) {
    if (!(await load(parts.slice(0, AT_ONCE)))) return false;
  }
  return true;
};

const isLoading = new WeakSet();
// The event does not bubble.
document.addEventListener(
  "toggle",
  async ({ target }) => {
    if (!target.open || target.dataset.partName === undefined || isLoading.has(target)) return;
    isLoading.add(target);
    await load([target]);
    isLoading.delete(target);
  },
  true,
);
