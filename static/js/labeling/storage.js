// What the pages keep in this browser for one person: `outbox` (handed in, not taken), `draft` (typed, not saved),
// `question` (begun, not asked). Where storage is full or refused, this page keeps it as long as it is open.
import { prefix } from "../session.js";

const here = new Map();

export const KINDS = ["outbox", "draft", "question"];
export const keyOf = (kind, person, rest) => `${kind}:${person}${prefix()}:${rest}`;

export const read = (key) => {
  if (here.has(key)) return here.get(key);
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
};

// Returns whether it outlives this page.
export const write = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    here.delete(key);
    return true;
  } catch {
    here.set(key, value);
    return false;
  }
};

export const remove = (key) => {
  here.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // nothing was kept
  }
};

export const keysWith = (start) => {
  const keys = new Set([...here.keys()]);
  try {
    for (const key of Object.keys(localStorage)) keys.add(key);
  } catch {
    // nothing was kept
  }
  return [...keys].filter((key) => key.startsWith(start));
};

export const keysOf = (kind, person) => keysWith(keyOf(kind, person, ""));
// Whether the label of a slot is handed in and not taken yet: it is sent as it is.
export const isHandedIn = (person, slot) => Boolean(slot && read(keyOf("outbox", person, slot)));
// Whether something would be lost with this page.
export const isOnlyHere = () => here.size > 0;

addEventListener("beforeunload", (event) => isOnlyHere() && event.preventDefault());
