// Whose page this is, and whether that person is still signed in. When the session has ended, the page keeps everything
// and says so; one signs in on it or in another tab, and work goes on. When another person has signed in, it is covered.
// Events on the document: "signed-out" and "signed-in".
export const person = () => document.body.dataset.person ?? "";
// The path below which the application is served, "" at the root. Another one may be served below another path of the same
// host, and shares storage and channels with this one: what is kept or told names the prefix.
export const prefix = () => document.body.dataset.prefix ?? "";
const cookie = (name) => document.cookie.split("; ").find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
export const token = () => cookie(document.body.dataset.csrfCookie) ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";

export class SignedOut extends Error {}

const dialog = () => document.querySelector("dialog[data-session]");
const part = (name) => document.querySelector(`[data-session-${name}]`);
const channel = window.BroadcastChannel ? new BroadcastChannel(`session${prefix()}`) : null;
let state = "in";
export const isSignedOut = () => state !== "in";

// Returns the id of the person who is signed in, "" if no one is. Renews the CSRF cookie where it is gone.
export const whoIsIn = async () => {
  const response = await fetch(document.body.dataset.sessionUrl, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (!response.ok) throw new TypeError(`the server answered ${response.status}`);
  return (await response.json()).person;
};

const isCovered = () => document.documentElement.classList.contains("is-covered");
const show = () => {
  const isOther = state === "other";
  for (const element of document.querySelectorAll("[data-when-session]")) element.hidden = element.dataset.whenSession !== (isOther ? "other" : "out");
  part("bar").hidden = !isSignedOut();
};

// Opens the dialog to sign in. Only after what a person did themselves: who is typing is not interrupted.
export const openSignIn = () => {
  if (isSignedOut() && !dialog().open) dialog().showModal();
};

const cover = (covers) => document.documentElement.classList.toggle("is-covered", covers);

// `another`: whether another person has signed in. `covers`: the page must not be read any more.
export const signedOut = ({ another = false, covers = another } = {}) => {
  if (!person()) return;
  state = another ? "other" : "out";
  show();
  cover(covers || isCovered());
  if (isCovered()) openSignIn();
  document.dispatchEvent(new CustomEvent("signed-out"));
};

// Forms were drawn with a token of the session that has ended.
const renewTokens = () => {
  for (const field of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) field.value = token();
};

const signedIn = () => {
  renewTokens();
  cover(false);
  if (!isSignedOut()) return;
  state = "in";
  show();
  dialog().close();
  document.dispatchEvent(new CustomEvent("signed-in"));
};

const settle = (who, told = {}) => {
  if (who === person()) signedIn();
  else signedOut({ another: who !== "", ...told });
};

// Asks the server who is signed in, and follows it.
export const check = async (told) => {
  const who = await whoIsIn();
  settle(who, told);
  return who === person();
};
const checkQuietly = (told) => check(told).catch(() => {});

const say = (words) => {
  part("problem").textContent = words;
  part("problem").hidden = !words;
};

// Shows one step of the sign-in: "password", and "second_step" where the account has one.
const turn = (step) => {
  const form = document.querySelector("[data-sign-in]");
  for (const element of form.querySelectorAll("[data-step]")) {
    element.hidden = element.dataset.step !== step;
    if (!(element instanceof HTMLFieldSetElement)) continue;
    element.disabled = element.hidden;
    if (element.hidden) continue;
    form.action = element.dataset.action;
    element.querySelector("input").focus();
  }
};

const ask = async (form) => {
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  const headers = { Accept: "application/json", "X-CSRFToken": token(), "X-Person": person() };
  return fetch(form.action, { method: "POST", body: new URLSearchParams(fields), headers });
};

const signIn = async (form) => {
  say("");
  const button = form.querySelector("[type=submit]");
  button.disabled = true;
  try {
    await whoIsIn();
    renewTokens();
    const response = await ask(form);
    const answer = await response.json();
    if (!response.ok) {
      if (answer.code) turn(answer.code);
      return say(answer.code === "second_step" ? "" : answer.detail);
    }
    form.reset();
    turn("password");
    channel?.postMessage(answer.person);
    settle(answer.person);
  } catch {
    say("The server did not answer. Try again in a moment.");
  } finally {
    button.disabled = false;
  }
};

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-sign-in]")) return;
  event.preventDefault();
  signIn(event.target);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-session-open]")) openSignIn();
  if (event.target.closest("[data-session-close]")) dialog().close();
  if (event.target.closest("[data-session-back]")) {
    turn("password");
    say("");
  }
});

if (person()) {
  // A page that is covered stays so.
  dialog().addEventListener("close", () => isCovered() && isSignedOut() && queueMicrotask(openSignIn));
  channel?.addEventListener("message", ({ data }) => {
    if (data !== person() && !(data === "" && isSignedOut())) checkQuietly({ covers: true });
    else if (data === person() && isSignedOut()) checkQuietly();
  });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && isSignedOut() && checkQuietly());
  addEventListener("focus", () => isSignedOut() && checkQuietly());
  // A page that a browser kept whole, after "Back": nothing of it is shown before the server has said whose it is.
  addEventListener("pageshow", async (event) => {
    if (!event.persisted) return;
    cover(true);
    checkQuietly({ covers: true });
  });
  addEventListener("online", () => isCovered() && checkQuietly({ covers: true }));
}
channel?.postMessage(person());
