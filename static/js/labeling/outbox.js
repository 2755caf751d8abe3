// Submitted labels wait here until the server has taken them, across reloads and lost connections. Only a conflict, or a
// label that the server refuses, interrupts.
import { changed, forgetDraft, stopDrafts } from "./drafts.js";
import { focusFirstProblem, setProblems } from "./problems.js";
import { showSending, showSent, showSignedOut, showWaiting } from "./saved.js";
import { isJson, post, SignedOut } from "./server.js";
import { keysWith, read, remove, write } from "./storage.js";
import { onMain, swapMain } from "./swap.js";

const PAUSES = [2000, 5000, 10000, 30000];
const page = () => document.getElementById("main");
const prefix = () => `outbox:${page().dataset.user}:`;
let attempt = 0;
let timer = 0;
let busy = false;

const later = () => {
  clearTimeout(timer);
  timer = setTimeout(flush, PAUSES[Math.min(attempt, PAUSES.length - 1)]);
  attempt += 1;
};

export const submit = (url, fields) => {
  stopDrafts();
  const { slot } = page().dataset;
  const key = `${prefix()}${slot}`;
  const entry = { url, fields, slot };
  showSending();
  if (!write(key, entry)) return send(key, entry).catch(later);
  return flush();
};

export const flush = async () => {
  if (busy || !page()?.dataset.user) return;
  busy = true;
  try {
    let sent = 0;
    for (const key of keysWith(prefix())) sent += (await send(key, read(key))) === "elsewhere";
    if (sent) showSent(sent);
    attempt = 0;
  } catch (error) {
    if (error instanceof SignedOut) showSignedOut();
    else showWaiting(Math.max(keysWith(prefix()).length, 1));
    later();
  } finally {
    busy = false;
  }
};

const send = async (key, entry) => {
  if (!entry) return remove(key);
  const here = page().dataset.slot === entry.slot;
  const response = await post(entry.url, entry.fields);
  const answer = isJson(response) ? await response.json() : await response.text();
  remove(key);
  if (response.ok) {
    forgetDraft(page().dataset.user, entry.slot);
    tabs?.postMessage(entry.slot);
    if (here) swapMain(answer, response.headers.get("HX-Push-Url"));
    return here ? "here" : "elsewhere";
  }
  if (response.status === 422 && here) {
    changed();
    setProblems(answer.problems);
    focusFirstProblem();
  } else {
    // What could not be taken stays in this browser as a draft.
    write(`draft:${page().dataset.user}:${entry.slot}`, entry.fields);
    const detail = answer.message ? answer : { message: `The server answered ${response.status}.`, url: location.href };
    document.dispatchEvent(new CustomEvent("conflict", { detail }));
  }
};

// The same example may be open in another tab: there it is done with too.
const tabs = window.BroadcastChannel ? new BroadcastChannel("labelled") : null;
tabs?.addEventListener("message", ({ data }) => {
  if (page()?.dataset.slot !== data) return;
  stopDrafts();
  const detail = { message: "You have handed this example in from another tab.", url: location.pathname.replace(/[^/]+\/$/, "") };
  document.dispatchEvent(new CustomEvent("conflict", { detail }));
});

onMain(() => flush());
addEventListener("online", flush);
