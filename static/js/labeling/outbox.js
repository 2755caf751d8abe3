// What was handed in waits here until the server has acknowledged it, across reloads, lost connections and ended sessions.
// Only a conflict, or a refusal, interrupts.
import { isSignedOut, openSignIn, person, prefix } from "../session.js";
import { changed, draftKey, forgetDraft, stopDrafts } from "./drafts.js";
import { Pauses } from "./pauses.js";
import { showHeld } from "./next_example.js";
import { focusFirstProblem, setProblems } from "./problems.js";
import { showOutbox, showRefused, showSending, showSent, showTakenBack, showWaiting } from "./saved.js";
import { contentOf, isAccepted, isJson, newId, post, SignedOut, Unavailable } from "./server.js";
import { isOnlyHere, keyOf, keysOf, read, remove, write } from "./storage.js";
import { onMain, swapMain } from "./swap.js";
import { showToast } from "./toast.js";

// While it is on its way, nothing is entered; where that takes longer, one may go on.
const HELD = 3000;
// Where the answer takes longer than this, the next example is shown if it is here already.
const SOON = 700;
const page = () => document.getElementById("main");
const form = () => document.querySelector("form[data-work]");
const keyFor = (slot) => keyOf("outbox", person(), slot);
const pauses = new Pauses();
let timer = 0;
let busy = false;
// What is on its way: its key, and how to stop it.
let sending = null;

const waiting = () => keysOf("outbox", person()).map(read).filter(Boolean);

export const wordsOf = (entries) => {
  const nouns = new Set(entries.map((entry) => entry.noun ?? "label"));
  const noun = nouns.size === 1 ? [...nouns][0] : "submission";
  return `${entries.length} ${noun}${entries.length === 1 ? "" : "s"}`;
};

// "2 labels that waited: ex-1, ex-2"
const sentWords = (entries) => {
  const names = entries.map((entry) => entry.name).filter(Boolean).join(", ");
  return `${wordsOf(entries)} that waited${names && `: ${names}`}`;
};

// What was handed in for other examples and not taken is said beside what is said of this one.
const tell = () => {
  const others = waiting().filter((entry) => entry.slot !== page()?.dataset.slot);
  showOutbox(others.length ? `${wordsOf(others)} not sent yet` : "");
};

const goAhead = () => !isSignedOut() && read(keyFor(page().dataset.slot)) && showHeld();

let hold = 0;
const release = (focused) => {
  clearTimeout(hold);
  if (!form()?.inert) return;
  form().inert = false;
  if (focused?.isConnected) focused.focus({ preventScroll: true });
};

export const submit = async (url, fields) => {
  stopDrafts();
  const { slot, noun, draftUrl = "", name } = page().dataset;
  write(keyFor(slot), { id: newId(), url, fields, slot, noun, name, draftUrl, page: location.pathname, at: Date.now() });
  showSending();
  const focused = document.activeElement;
  form().inert = true;
  hold = setTimeout(() => release(focused), HELD);
  setTimeout(() => page().dataset.slot === slot && goAhead(), SOON);
  await flush({ byHand: true });
  if (page().dataset.slot === slot) release(focused);
};

const later = (error, byHand) => {
  const entries = waiting();
  if (!entries.length) return;
  const words = `${wordsOf(entries)} wait${entries.length === 1 ? "s" : ""}`;
  if (error instanceof SignedOut) {
    showWaiting(error, words, !isOnlyHere());
    if (byHand) openSignIn();
    return;
  }
  const pause = pauses.next(error);
  goAhead();
  showWaiting(error, words, !isOnlyHere(), pause);
  timer = setTimeout(flush, pause);
};

// The oldest first: the answer to a later one offers what is not handed in, as the server knows it by then.
const inOrder = () => keysOf("outbox", person()).sort((one, other) => (read(one)?.at ?? 0) - (read(other)?.at ?? 0));

// Sends all that waits, one after the other.
export const flush = async ({ byHand = false } = {}) => {
  if (busy || !person()) return;
  clearTimeout(timer);
  busy = true;
  try {
    const tried = new Set();
    const sent = [];
    const isNew = (key) => !tried.has(`${key} ${read(key)?.id}`);
    for (let key; (key = inOrder().find(isNew)); ) {
      const entry = read(key);
      tried.add(`${key} ${entry?.id}`);
      if ((await send(key, entry)) === "elsewhere") sent.push(entry);
    }
    pauses.reset();
    document.dispatchEvent(new CustomEvent("sent"));
    if (sent.length) showSent(sentWords(sent));
  } catch (error) {
    later(error, byHand);
  } finally {
    busy = false;
    tell();
  }
};

// Not where another has been handed in for the same example meanwhile.
const done = (key, entry) => read(key)?.id === entry.id && remove(key);

const send = async (key, entry) => {
  if (!entry?.fields) return remove(key);
  sending = { key, abort: new AbortController() };
  const { signal } = sending.abort;
  try {
    const response = await post(entry.url, entry.fields, { id: entry.id, signal });
    const answer = await response.text();
    if (isAccepted(response)) return accepted(key, entry, answer, response.headers.get("HX-Push-Url"));
    if (response.status < 400) throw new Unavailable(response.status);
    refused(key, entry, response, answer);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  } finally {
    sending = null;
  }
};

const accepted = (key, entry, html, url) => {
  const here = page().dataset.slot === entry.slot;
  done(key, entry);
  forgetDraft(entry.slot);
  tabs?.postMessage(entry.slot);
  // Until another page is there, nothing is entered on this one.
  if (here && !html.includes('id="main"')) page().inert = true;
  if (here) swapMain(html, url);
  else catchUp(html);
  return here ? "here" : "elsewhere";
};

// On another example by now: what the answer says of the label, and of how far one is, is said here.
const catchUp = (html) => {
  const answer = new DOMParser().parseFromString(html, "text/html");
  const [said, shown] = [answer, document].map((root) => root.querySelector("#main .progress-line"));
  const isSame = answer.getElementById("main")?.dataset.slot === page().dataset.slot;
  if (isSame && said && shown) shown.replaceWith(said);
  const toast = answer.querySelector("#main [data-toast]");
  if (toast && page().dataset.slot) showToast(toast);
};

const told = (response, entry, answer) => {
  const said = isJson(response) ? JSON.parse(answer) : {};
  const missing = "Your label for another example is incomplete.";
  const message = said.message ?? (response.status === 422 ? missing : `The server rejected your label (${response.status}).`);
  return { message, url: entry.page ?? location.href, ...said };
};

// What could not be taken stays in this browser as a draft; the draft is there before the entry goes.
const refused = (key, entry, response, answer) => {
  const here = page().dataset.slot === entry.slot;
  const detail = told(response, entry, answer);
  write(draftKey(entry.slot), { url: entry.draftUrl ?? "", fields: entry.fields });
  done(key, entry);
  if (!here) return document.dispatchEvent(new CustomEvent("conflict", { detail }));
  release();
  if (response.status !== 422 || !detail.problems) {
    showRefused();
    return document.dispatchEvent(new CustomEvent("conflict", { detail }));
  }
  changed();
  setProblems(detail.problems);
  focusFirstProblem();
};

// Who goes on typing has not handed in what they type now: it is theirs again, and they hand it in once more.
document.addEventListener("edited", ({ detail: fields }) => {
  const key = keyFor(page().dataset.slot);
  const entry = read(key);
  if (!entry || contentOf(entry.fields) === contentOf(fields)) return;
  remove(key);
  if (sending?.key === key) sending.abort.abort();
  showTakenBack();
});

// The same example may be open in another tab: there it is done with too.
const tabs = window.BroadcastChannel ? new BroadcastChannel(`labelled${prefix()}`) : null;
tabs?.addEventListener("message", ({ data }) => {
  if (!data || page()?.dataset.slot !== data) return;
  stopDrafts();
  const detail = { message: "You have already submitted this example in another tab.", url: location.pathname.replace(/[^/]+\/$/, "") };
  document.dispatchEvent(new CustomEvent("conflict", { detail }));
});

onMain(() => {
  tell();
  flush();
});
addEventListener("online", () => flush());
document.addEventListener("signed-in", () => flush());
document.addEventListener("reached", () => flush());
