// Where one was on a page: how far it was scrolled, what had the focus, and what else the page keeps. It is kept in this
// tab by the page's address, so that Back finds it again, and so does the way out of a case.
const HERE = () => {
  const asked = new URLSearchParams(location.search);
  asked.delete("from"); // only says where a case was opened
  return `place:${location.pathname}?${asked}`;
};
const NEXT = "place:next"; // for the page that a changed filter leads to
const CASE = /\/cases\/([0-9a-f-]{36})\//;

const read = (key) => {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null; // storage may be refused: the page then opens at its top
  }
};
const write = (key, value) => {
  try {
    if (value) sessionStorage.setItem(key, JSON.stringify(value));
    else sessionStorage.removeItem(key);
  } catch {
    // not kept
  }
};

const quoted = (text) => `"${CSS.escape(text)}"`;
const named = (element) => {
  if (!(element instanceof HTMLElement)) return "";
  if (element.name && element.form) {
    const value = element.type === "radio" ? `[value=${quoted(element.value)}]` : "";
    return `[name=${quoted(element.name)}]${value}`;
  }
  if (element.dataset.case) return `[data-case=${quoted(element.dataset.case)}]`;
  return element.matches("a[href]") ? `a[href=${quoted(element.getAttribute("href"))}]` : "";
};

const focus = (selector) => {
  const found = selector ? document.querySelector(selector) : null;
  found?.focus({ preventScroll: true });
  return Boolean(found);
};

// The case that one comes out of, by its id; "" where one comes from elsewhere.
export const leftCase = () => (document.referrer.startsWith(location.origin) && CASE.exec(document.referrer)?.[1]) || "";

// Says that the page which is asked for now is this one changed: the focus stays on its control.
export const stay = () => write(NEXT, { focus: named(document.activeElement), y: scrollY });

// Keeps the place when the page is left, and returns the one that is to be taken up again, or null. `more` returns what
// else is to be kept.
export const keepPlace = (more = () => ({})) => {
  addEventListener("pagehide", () => write(HERE(), { y: scrollY, focus: named(document.activeElement), ...more() }));
  const next = read(NEXT);
  write(NEXT, null);
  const [entry] = performance.getEntriesByType("navigation");
  const returns = entry instanceof PerformanceNavigationTiming && entry.type !== "navigate";
  const kept = next || (returns || leftCase() ? read(HERE()) : null);
  return kept && { ...kept, returns };
};

// Scrolls to a place, where the browser has not done so, and gives the focus back; false where there is nothing to
// give it to.
export const takeUp = (place) => {
  if (!place) return false;
  if (!place.returns) scrollTo({ top: place.y, behavior: "instant" });
  return focus(place.focus);
};
