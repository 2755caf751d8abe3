// What htmx asks for carries the token of today and the person whose page it is. What was asked for by hand and not given,
// because one was signed out or the server was not ready, is asked for again after signing in, or once the server answers.
import { isSignedOut, person, signedOut, token } from "./session.js";

const missed = new Map();
const isByHand = (event) => event && !["load", "every", "htmx:load"].includes(event.type);

document.addEventListener("htmx:configRequest", ({ detail }) => {
  detail.headers["X-CSRFToken"] = token();
  if (person()) detail.headers["X-Person"] = person();
  if (detail.parameters.csrfmiddlewaretoken) detail.parameters.csrfmiddlewaretoken = token();
});
// What a page asks for by itself, again and again, rests until a person has signed in.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (isSignedOut() && !isByHand(event.detail.requestConfig.triggeringEvent)) event.preventDefault();
});

const codeOf = (xhr) => {
  try {
    return JSON.parse(xhr.responseText).code;
  } catch {
    return "";
  }
};

document.addEventListener("htmx:responseError", ({ detail: { xhr, requestConfig } }) => {
  const { elt, target, triggeringEvent } = requestConfig;
  if (xhr.status !== 401 && xhr.status < 500) return;
  // The pane of arguments is drawn again by its own script.
  if (xhr.status !== 401 && target.id === "panel") return;
  // Only what draws a part of the page: a job, for one, is stopped by pressing again.
  if (isByHand(triggeringEvent) && elt.closest("[data-work]")) missed.set(target, { elt, type: triggeringEvent.type });
  if (xhr.status === 401) signedOut({ another: codeOf(xhr) === "another_person" });
});
const askAgain = () => {
  const again = [...missed.values()];
  missed.clear();
  for (const { elt, type } of again) if (elt.isConnected) elt.dispatchEvent(new Event(type, { bubbles: true, cancelable: true }));
};
document.addEventListener("signed-in", askAgain);
document.addEventListener("reached", askAgain);
