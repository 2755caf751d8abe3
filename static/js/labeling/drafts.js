// What is entered is kept: in this browser at once, on the server a moment later. A copy that the server has not taken
// is put back after a reload or a crash.
import { person } from "../session.js";
import { Pauses } from "./pauses.js";
import { forget, setProblems } from "./problems.js";
import { showEditing, showHere, showSaved, showUnsaved } from "./saved.js";
import { contentOf, fieldsOf, get, isAccepted, isJson, post, SignedOut, Unavailable } from "./server.js";
import { isHandedIn, keyOf, read, remove, write } from "./storage.js";
import { isSwapping, onMain, swapMain } from "./swap.js";

const PAUSE = 600;
const pauses = new Pauses();
let timer = 0;
let request = null;
// Whether anything was entered that the server has not been told.
let dirty = false;
// Whether what was entered last outlives this page.
let isKept = false;

const form = () => document.querySelector("form[data-work]");
const main = () => document.getElementById("main");
export const draftKey = (slot) => keyOf("draft", person(), slot);
const hasDraft = (page) => page.dataset.slot && page.dataset.draftUrl && form();

const plan = (pause) => {
  clearTimeout(timer);
  timer = setTimeout(saveDraft, pause);
};

export const changed = () => {
  const page = main();
  if (isSwapping() || !form() || !page.dataset.slot) return;
  const fields = fieldsOf(form());
  isKept = write(draftKey(page.dataset.slot), { url: page.dataset.draftUrl ?? "", fields });
  dirty = true;
  if (hasDraft(page)) showEditing();
  else showHere(isKept);
  document.dispatchEvent(new CustomEvent("edited", { detail: fields }));
  if (hasDraft(page)) plan(PAUSE);
};

export const forgetDraft = (slot) => remove(draftKey(slot));

const forgetIfSame = (slot, fields) => {
  const kept = read(draftKey(slot));
  if (kept && contentOf(kept.fields) === contentOf(fields)) forgetDraft(slot);
};

// Sends a draft as it is; returns the server's answer, null where that was a refusal and has been told.
const sendDraft = async (url, fields, signal) => {
  const response = await post(url, fields, { signal });
  if (response.status === 409 && isJson(response)) {
    document.dispatchEvent(new CustomEvent("conflict", { detail: await response.json() }));
    return null;
  }
  if (!isAccepted(response)) throw new Unavailable(response.status);
  return response.json();
};

const save = async () => {
  clearTimeout(timer);
  timer = 0;
  const page = main();
  // What is handed in is no draft: no draft is sent after it.
  if (!dirty || isSwapping() || !hasDraft(page) || isHandedIn(person(), page.dataset.slot)) return;
  dirty = false;
  const fields = fieldsOf(form());
  request?.abort();
  request = new AbortController();
  const { signal } = request;
  try {
    const answer = await sendDraft(page.dataset.draftUrl, fields, signal);
    if (signal.aborted || !answer) return;
    pauses.reset();
    forgetIfSame(page.dataset.slot, fields);
    // Not where more was entered meanwhile.
    if (!dirty) showSaved(answer.saved_at);
    setProblems(answer.problems);
    document.dispatchEvent(new CustomEvent("reached"));
  } catch (error) {
    if (error.name === "AbortError" || main() !== page) return;
    dirty = true;
    const pause = pauses.next(error);
    showUnsaved(error, isKept, error instanceof SignedOut ? 0 : pause);
    plan(pause);
  }
};

let underWay = null;
export const saveDraft = () => (underWay = save());

// Before a submit: no draft may come after it.
export const stopDrafts = () => {
  clearTimeout(timer);
  timer = 0;
  request?.abort();
};

// Until what was kept is back on the page, nothing can be entered that would take its place.
const restore = async (page) => {
  const { slot, draftUrl } = page.dataset;
  const kept = read(draftKey(slot));
  // What was handed in already is on its way by itself.
  if (!Array.isArray(kept?.fields) || isHandedIn(person(), slot)) return;
  if (contentOf(kept.fields) === contentOf(fieldsOf(form()))) return;
  form().inert = true;
  try {
    if (!(await sendDraft(draftUrl, kept.fields))) return (form().inert = false);
    const again = await (await get(location.href)).text();
    if (main() !== page) return;
    forgetIfSame(slot, kept.fields);
    swapMain(again, "", { push: false });
  } catch (error) {
    if (main() !== page) return;
    const pause = pauses.next(error);
    showUnsaved(error, true, error instanceof SignedOut ? 0 : pause);
    clearTimeout(timer);
    timer = setTimeout(() => main() === page && restore(page), pause);
  }
};

const goOn = () => {
  const page = main();
  if (form()?.inert && hasDraft(page)) restore(page);
  else saveDraft();
};

onMain((page) => {
  stopDrafts();
  forget();
  dirty = false;
  if (hasDraft(page)) restore(page);
});
addEventListener("online", goOn);
document.addEventListener("signed-in", goOn);
// Before the example is given back: a draft that came afterwards would claim it again.
document.addEventListener("submit", async (event) => {
  if (!event.target.matches("[data-leave]")) return;
  event.preventDefault();
  await underWay;
  await saveDraft();
  stopDrafts();
  event.target.submit();
});
document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && timer && saveDraft());
