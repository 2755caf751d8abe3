// Signing out: what was handed in and not taken, or begun and not asked, is told first, and can be sent. It stays in this
// browser for the person who typed it, and for no one else.
import { person } from "./session.js";
import { isAccepted, newId, post, SignedOut } from "./labeling/server.js";
import { isOnlyHere, keyOf, keysOf, KINDS, read, remove } from "./labeling/storage.js";

const dialog = () => document.querySelector("dialog[data-leaving]");
const part = (name) => dialog().querySelector(`[data-leaving-${name}]`);
const slotOf = (key) => key.split(":")[2];
const isHandedIn = (key) => key.startsWith("draft:") && read(keyOf("outbox", person(), slotOf(key)));
// The oldest first, as they were handed in.
const waiting = (kind) => {
  const kept = keysOf(kind, person()).filter((key) => !isHandedIn(key)).map((key) => ({ key, entry: read(key) }));
  return kept.filter(({ entry }) => entry).sort((one, other) => (one.entry.at ?? 0) - (other.entry.at ?? 0));
};
let form = null;
let leaves = false;

const count = (number, what) => (number ? [`${number} ${what}${number === 1 ? "" : "s"}`] : []);
const told = () => {
  const [outbox, drafts, questions] = KINDS.map((kind) => waiting(kind).length);
  return [...count(outbox, "submission"), ...count(drafts, "draft"), ...count(questions, "question")].join(", ");
};
// What can be sent as it is: a question that is only begun is not.
const sendable = () => [...waiting("outbox"), ...waiting("draft")].filter(({ entry }) => entry.url);

const say = (words) => {
  part("problem").textContent = words;
  part("problem").hidden = !words;
};

const show = () => {
  part("what").textContent = told();
  part("send").hidden = sendable().length === 0;
  part("kept").textContent = isOnlyHere() ? "This browser cannot store anything. Unsent work will be lost." : "Unsent work stays in this browser. Only you can see it, after you sign in again.";
  if (!dialog().open) dialog().showModal();
};

const leave = () => {
  leaves = true;
  dialog().close();
  form.requestSubmit();
};

const sendOne = async ({ key, entry }) => {
  const response = await post(entry.url, entry.fields, { id: entry.id ?? newId() });
  if (!isAccepted(response)) return false;
  remove(key);
  remove(keyOf("draft", person(), slotOf(key)));
  return true;
};

const sendAll = async () => {
  say("");
  part("send").disabled = true;
  let refused = 0;
  try {
    for (const one of sendable()) refused += (await sendOne(one)) ? 0 : 1;
    if (refused) say(`The server rejected ${refused} of them. Open the example to see why.`);
  } catch (error) {
    say(error instanceof SignedOut ? "Not sent: you are signed out already." : "Not sent: the server did not answer. Try again in a moment.");
    refused = 1;
  } finally {
    part("send").disabled = false;
  }
  if (!refused && !told()) return leave();
  show();
};

addEventListener("submit", (event) => {
  if (!event.target.matches("[data-sign-out]")) return;
  form = event.target;
  if (leaves || !told()) return;
  event.preventDefault();
  say("");
  show();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-leaving-stay]")) dialog().close();
  if (event.target.closest("[data-leaving-send]")) sendAll();
  if (event.target.closest("[data-leaving-anyway]")) leave();
});
