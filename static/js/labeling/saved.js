// The one line that says where what was entered is: on the server, in this browser, or on this page only.
import { SignedOut } from "./server.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const exact = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const line = () => document.querySelector("[data-saved]");

// What waits is said once: by the line of the outbox, or, right after a try, by this one.
const tellOnce = (isToldHere) => {
  const outbox = document.querySelector("[data-outbox]");
  if (!outbox) return;
  outbox.toggleAttribute("data-told", isToldHere);
  outbox.hidden = isToldHere || !outbox.textContent;
};

// What changes with every word is shown, not read out.
const show = (text, { waits = true, quiet = false, tellsWaiting = false } = {}) => {
  const element = line();
  if (!element) return;
  tellOnce(tellsWaiting);
  element.hidden = false;
  element.setAttribute("aria-live", quiet ? "off" : "polite");
  element.classList.toggle("saved-wait", waits);
  if (element.textContent !== text) element.textContent = text;
};

const reason = (error) => {
  if (error instanceof SignedOut) return "Signed out";
  if (!error.status) return "Server not reached";
  if (error.status >= 500 || error.status === 429) return `Server not ready (${error.status})`;
  return error.status >= 400 ? `Refused by the server (${error.status})` : "No confirmation from the server";
};
export const where = (isKept) => (isKept ? "in this browser" : "on this page only");
const next = (pause) => (pause ? `, retrying at ${exact.format(new Date(Date.now() + pause))}` : "");

export const showEditing = () => show("Not saved yet", { quiet: true });
// Where the server keeps no drafts.
export const showHere = (isKept) => show(`Kept ${where(isKept)}`, { quiet: true });
// A part of the page could not be fetched.
export const showKept = () => show("Server not reached");
export const showSaved = (at) => show(`Draft saved ${clock.format(new Date(at))}`, { waits: false, quiet: true });
export const showUnsaved = (error, isKept, pause) => show(`${reason(error)}: kept ${where(isKept)}${next(pause)}`);
// What was not done is said, and can be tried again.
export const showNotDone = (error) => show(`${reason(error)}: not done`);
export const showSending = () => show("Sending");
export const showSent = (words) => show(`Sent ${words}`, { waits: false });
export const showWaiting = (error, words, isKept, pause) => show(`${reason(error)}: ${words} ${where(isKept)}${next(pause)}`, { tellsWaiting: true });
// What was handed in for another example and is not taken yet; nothing where there is none.
export const showOutbox = (words) => {
  const element = document.querySelector("[data-outbox]");
  if (!element) return;
  if (element.textContent !== words) element.textContent = words;
  element.hidden = !words || element.hasAttribute("data-told");
};
// The fields of the chosen tool are not here: nothing can be handed in without them.
export const showIncomplete = () => show("Server not reached: not handed in, the fields of this choice are not here yet");
export const showTakenBack = () => show("Not submitted: you changed it. Submit again");
export const showRefused = () => show("Not submitted");

// Answers to one's questions, told where the page has a place for it.
export const showAnswers = (count) => {
  const element = document.querySelector("[data-answers]");
  if (!element) return;
  element.hidden = !count;
  element.textContent = `${count} answer${count === 1 ? "" : "s"} to your questions`;
};
