// A form that a person has filled in leaves its page only when the server is there and they are still signed in: a page
// to sign in, or an error of the browser, would take the place of what was typed.
import { check, openSignIn, person, token } from "./session.js";

const FILLED_IN = "textarea, select, input:not([type=hidden], [type=submit], [type=button])";
const BY_SCRIPT = "[data-work], [data-act], [data-sign-in], [data-sign-out]";
const asked = new WeakSet();
const released = new WeakSet();

// By its attribute: a field may be called "method".
const isOurs = (form) => form.getAttribute("method")?.toLowerCase() === "post" && !form.matches(BY_SCRIPT) && form.querySelector(FILLED_IN);

const place = (form) => {
  const known = form.querySelector("[data-not-sent]");
  if (known) return known;
  const words = Object.assign(document.createElement("p"), { className: "field-error not-sent" });
  words.setAttribute("role", "alert");
  words.dataset.notSent = "";
  form.append(words);
  return words;
};

const send = async (form, submitter) => {
  asked.add(form);
  form.querySelector("[data-not-sent]")?.remove();
  try {
    if (await check()) {
      released.add(form);
      form.requestSubmit(submitter?.isConnected ? submitter : undefined);
      return;
    }
    place(form).textContent = "Not sent: you are signed out. It is sent once you have signed in.";
    openSignIn();
    document.addEventListener("signed-in", () => form.isConnected && send(form, submitter), { once: true });
  } catch {
    place(form).textContent = "Not sent: the server cannot be reached. This page keeps what you entered; send it again in a moment.";
  } finally {
    asked.delete(form);
  }
};

// After every other listener: what a script of the page sends by itself is none of ours.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !person() || !isOurs(form)) return;
  if (released.delete(form)) return;
  event.preventDefault();
  if (!asked.has(form)) send(form, event.submitter);
});
// Every form goes with the token of today.
addEventListener("submit", ({ target }) => {
  const field = target.querySelector("input[name=csrfmiddlewaretoken]");
  if (field) field.value = token();
}, { capture: true });
