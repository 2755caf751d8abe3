// Questions about the example: sent without leaving the page. What is being written is kept in this browser until then.
import { openSignIn, person } from "../session.js";
import { act } from "./acts.js";
import { where } from "./saved.js";
import { isAccepted, newId, post, SignedOut, Unavailable } from "./server.js";
import { keyOf, read, remove, write } from "./storage.js";

const keyFor = (talk, about) => keyOf("question", person(), `${talk.dataset.revision}:${about}`);
const aboutOf = (area) => area.name.slice("comment:".length);

export const fillQuestions = (root) => {
  for (const area of root.querySelectorAll("[data-question]")) area.value ||= read(keyFor(area.closest("[data-talk]"), aboutOf(area)))?.text ?? "";
};

const say = (talk, words) => {
  const problem = talk.querySelector("[data-talk-problem]");
  problem.hidden = !words;
  problem.textContent = words;
};

// The same text, pressed again because the answer was lost, is one remark.
let unanswered = { what: "", id: "" };
const idOf = (what) => {
  if (unanswered.what !== what) unanswered = { what, id: newId() };
  return unanswered.id;
};

const notSent = (error) => {
  if (error instanceof SignedOut) return "Not sent: you are signed out. It is sent once you have signed in.";
  return error.status >= 400 && error.status < 500 ? `Not sent: the server refused it (${error.status}).` : "The server did not answer. Try again in a moment. It will not be added twice.";
};

const unsent = (talk, button, error) => {
  const area = areaOf(talk, button);
  const isKept = write(keyFor(talk, button.value), textOf(area));
  say(talk, `${notSent(error)} What you wrote is kept ${where(isKept)}.`);
  if (!(error instanceof SignedOut)) return;
  openSignIn();
  document.addEventListener("signed-in", () => talk.isConnected && send(talk, button), { once: true });
};

const areaOf = (talk, button) => talk.querySelector(`[name="comment:${button.value}"]`);
const textOf = (area) => ({ text: area.value, page: location.pathname });
const busy = new WeakSet();

const send = async (talk, button) => {
  if (busy.has(talk)) return;
  busy.add(talk);
  const about = button.value;
  const area = areaOf(talk, button);
  const { value } = area;
  const url = talk.querySelector("[formaction]").formAction;
  try {
    const response = await post(url, [["about", about], [area.name, value]], { id: idOf(`${about} ${value}`) });
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-talk]");
    if (response.status === 422 && fresh) {
      say(talk, fresh.querySelector("[data-talk-problem]").textContent);
      return area.focus();
    }
    if (!isAccepted(response) || !fresh) throw new Unavailable(response.status);
    unanswered = { what: "", id: "" };
    added(talk, fresh, about, area.value === value ? "" : area.value);
    if (button.dataset.skipUrl) return act(button.dataset.skipUrl, [["reason", "Asked the adjudicators"], ["scope", document.querySelector("[name=scope]")?.value ?? ""]]);
    fresh.querySelector("[data-question]")?.focus();
  } catch (error) {
    unsent(talk, button, error);
  } finally {
    busy.delete(talk);
  }
};

// `more`: what was typed while the remark was on its way.
const added = (talk, fresh, about, more) => {
  if (more) write(keyFor(talk, about), { text: more, page: location.pathname });
  else remove(keyFor(talk, about));
  talk.replaceWith(fresh);
  fillQuestions(fresh);
  document.dispatchEvent(new CustomEvent("htmx:load", { detail: { elt: fresh } }));
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-say]");
  if (!button) return;
  event.preventDefault();
  send(button.closest("[data-talk]"), button);
});
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-question]")) return;
  const key = keyFor(event.target.closest("[data-talk]"), aboutOf(event.target));
  if (event.target.value) write(key, textOf(event.target));
  else remove(key);
});
fillQuestions(document);
