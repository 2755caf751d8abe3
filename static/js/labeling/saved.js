// The one line that says whether what was entered is on the server or only in this browser.
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const line = () => document.querySelector("[data-saved]");

const show = (text, waits) => {
  const element = line();
  if (!element) return;
  element.hidden = false;
  element.classList.toggle("saved-wait", waits);
  if (element.textContent !== text) element.textContent = text;
};

export const showSaved = (at) => show(`Draft saved ${clock.format(new Date(at))}`, false);
export const showKept = () => show("Offline, kept in this browser", true);
export const showNotKept = () => show("Offline, and this browser keeps nothing", true);
// What was not done is said, and can be tried again.
export const showNotDone = () => show("Offline: not done. Nothing was lost", true);
export const showSent = (count) => show(`Sent ${count} label${count === 1 ? "" : "s"} that waited`, false);
export const showSignedOut = () => {
  show("Signed out, kept in this browser. ", true);
  const element = line();
  if (!element) return;
  const link = Object.assign(document.createElement("a"), { href: "/sign-in/?next=/", target: "_blank", textContent: "Sign in again" });
  element.append(link);
};
export const showWaiting = (count) => show(`Offline, ${count} label${count === 1 ? "" : "s"} wait${count === 1 ? "s" : ""}`, true);
export const showSending = () => show("Sending", true);

// Answers to one's questions, told where the page has a place for it.
export const showAnswers = (count) => {
  const element = document.querySelector("[data-answers]");
  if (!element) return;
  element.hidden = !count;
  element.textContent = `${count} answer${count === 1 ? "" : "s"} to your questions`;
};
