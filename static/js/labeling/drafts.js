// What is entered is kept: in this browser at once, on the server a moment later. A copy that the server has not taken
// is put back after a reload or a crash.
import { forget, setProblems } from "./problems.js";
import { showKept, showNotKept, showSaved, showSignedOut } from "./saved.js";
import { fieldsOf, get, isJson, post, SignedOut } from "./server.js";
import { read, remove, write } from "./storage.js";
import { isSwapping, onMain, swapMain } from "./swap.js";

const PAUSE = 600;
const AGAIN = 10000;
let timer = 0;
let request = null;
// Whether anything was entered that the server has not been told.
let dirty = false;

const form = () => document.querySelector("form[data-work]");
const main = () => document.getElementById("main");
const keyOf = (page) => `draft:${page.dataset.user}:${page.dataset.slot}`;
// Seconds of work count up by themselves: they are no change.
const contentOf = (fields) => JSON.stringify(fields.filter(([name]) => name !== "seconds"));

const plan = (pause) => {
  clearTimeout(timer);
  timer = setTimeout(saveDraft, pause);
};

export const changed = () => {
  const page = main();
  if (isSwapping() || !form() || !page.dataset.draftUrl) return;
  dirty = true;
  const kept = write(keyOf(page), fieldsOf(form()));
  if (!kept && !navigator.onLine) showNotKept();
  plan(PAUSE);
};

export const saveDraft = async () => {
  clearTimeout(timer);
  const page = main();
  if (!dirty || isSwapping() || !form() || !page.dataset.draftUrl) return;
  dirty = false;
  const fields = fieldsOf(form());
  request?.abort();
  request = new AbortController();
  const { signal } = request;
  try {
    const response = await post(page.dataset.draftUrl, fields, { signal });
    if (signal.aborted || !isJson(response)) return;
    const answer = await response.json();
    if (response.status === 409) return document.dispatchEvent(new CustomEvent("conflict", { detail: answer }));
    if (contentOf(read(keyOf(page)) ?? fields) === contentOf(fields)) remove(keyOf(page));
    showSaved(answer.saved_at);
    setProblems(answer.problems);
    document.dispatchEvent(new CustomEvent("reached"));
  } catch (error) {
    if (error.name === "AbortError") return;
    dirty = true;
    if (error instanceof SignedOut) showSignedOut();
    else showKept();
    plan(AGAIN);
  }
};

// Before a submit: no draft may come after it.
export const stopDrafts = () => {
  clearTimeout(timer);
  request?.abort();
};
export const forgetDraft = (user, slot) => remove(`draft:${user}:${slot}`);

const restore = async (page) => {
  const kept = read(keyOf(page));
  // What was handed in already is on its way by itself.
  if (read(`outbox:${page.dataset.user}:${page.dataset.slot}`)) return;
  if (!Array.isArray(kept) || contentOf(kept) === contentOf(fieldsOf(form()))) return;
  try {
    const response = await post(page.dataset.draftUrl, kept);
    if (!response.ok) return;
    remove(keyOf(page));
    const again = await get(location.href);
    if (main() !== page) return;
    swapMain(await again.text(), "", { push: false });
  } catch {
    showKept();
    setTimeout(() => main() === page && restore(page), AGAIN);
  }
};

onMain((page) => {
  stopDrafts();
  forget();
  dirty = false;
  if (page.dataset.slot && page.dataset.draftUrl && form()) restore(page);
});
addEventListener("online", saveDraft);
document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && timer && saveDraft());
