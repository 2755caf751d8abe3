// Questions about the example: sent without leaving the page. What is being written is kept in this browser until then.
import { act } from "./acts.js";
import { post, SignedOut } from "./server.js";
import { read, remove, write } from "./storage.js";

const keyOf = (talk, about) => `question:${document.getElementById("main").dataset.user}:${talk.dataset.revision}:${about}`;
const aboutOf = (area) => area.name.slice("comment:".length);

export const fillQuestions = (root) => {
  for (const area of root.querySelectorAll("[data-question]")) area.value ||= read(keyOf(area.closest("[data-talk]"), aboutOf(area))) ?? "";
};

const say = (talk, words) => {
  const problem = talk.querySelector("[data-talk-problem]");
  problem.hidden = !words;
  problem.textContent = words;
};

const send = async (talk, button) => {
  const about = button.value;
  const area = talk.querySelector(`[name="comment:${about}"]`);
  const url = talk.querySelector("[formaction]").formAction;
  try {
    const response = await post(url, [["about", about], [area.name, area.value]]);
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-talk]");
    if (!response.ok) {
      say(talk, fresh?.querySelector("[data-talk-problem]").textContent ?? "This could not be sent.");
      return area.focus();
    }
    remove(keyOf(talk, about));
    talk.replaceWith(fresh);
    document.dispatchEvent(new CustomEvent("htmx:load", { detail: { elt: fresh } }));
    if (button.dataset.skipUrl) return act(button.dataset.skipUrl, [["reason", "Asked the adjudicators"], ["scope", document.querySelector("[name=scope]")?.value ?? ""]]);
    fresh.querySelector("[data-question]")?.focus();
  } catch (error) {
    say(talk, error instanceof SignedOut ? "You are signed out. What you wrote is kept." : "Offline: not sent. What you wrote is kept.");
  }
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-say]");
  if (!button) return;
  event.preventDefault();
  send(button.closest("[data-talk]"), button);
});
document.addEventListener("input", (event) => {
  if (event.target.matches("[data-question]")) write(keyOf(event.target.closest("[data-talk]"), aboutOf(event.target)), event.target.value);
});
fillQuestions(document);
