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
export const showSignedOut = () => show("Signed out, kept in this browser: sign in again in another tab", true);
export const showWaiting = (count) => show(`Offline, ${count} label${count === 1 ? "" : "s"} wait${count === 1 ? "s" : ""}`, true);
export const showSending = () => show("Sending", true);
