// The acts around a label: skip, flag, undo, the conflict that interrupts, and the seconds of work.
import { open } from "../keys.js";
import { openSignIn } from "../session.js";
import { changed, draftKey, forgetDraft, stopDrafts } from "./drafts.js";
import { showNotDone, where } from "./saved.js";
import { fieldsOf, get, isAccepted, isJson, newId, post, SignedOut, Unavailable } from "./server.js";
import { write } from "./storage.js";
import { swapMain } from "./swap.js";
import { keepToast } from "./toast.js";

const IDLE = 60000;
let active = Date.now();

// What is on the page goes nowhere while one reads why: a copy stays in this browser.
const keptWords = () => {
  const form = document.querySelector("form[data-work]");
  const { slot, draftUrl = "" } = document.getElementById("main").dataset;
  if (!form || !slot) return "";
  return ` What you entered is kept ${where(write(draftKey(slot), { url: draftUrl, fields: fieldsOf(form) }))}.`;
};

const interrupt = ({ message, url }) => {
  const words = document.querySelector("[data-conflict]");
  // Where several that waited are refused, each is said.
  const before = words.closest("dialog").open ? `${words.textContent} ` : "";
  words.textContent = before + message + keptWords();
  document.querySelector("[data-conflict-url]").href = url;
  open("conflict");
};
document.addEventListener("conflict", (event) => interrupt(event.detail));

// One press is one act: pressed again because the answer was lost, it is done once.
let unanswered = { url: "", id: "" };

// Does what cannot wait, such as a skip; returns the error where the server did not answer. Then everything on the page is
// as it was before, and the line at the top says so.
export const act = async (url, fields) => {
  const { slot } = document.getElementById("main").dataset;
  if (unanswered.url !== url) unanswered = { url, id: newId() };
  try {
    const response = await post(url, fields, { id: unanswered.id });
    const answer = await response.text();
    if (isAccepted(response)) {
      if (fields.length && slot) forgetDraft(slot);
      swapMain(answer, response.headers.get("HX-Push-Url"));
    } else if (response.status === 409 && isJson(response)) interrupt(JSON.parse(answer));
    else throw new Unavailable(response.status);
    unanswered = { url: "", id: "" };
    return null;
  } catch (error) {
    showNotDone(error);
    return error;
  }
};

const sayUnsent = (place, error) => {
  const isOut = error instanceof SignedOut;
  if (isOut) openSignIn();
  const words = place?.querySelector("[data-unsent]");
  if (!words) return;
  words.hidden = !error;
  words.textContent = isOut ? "Not done: you are signed out. Sign in, then press again." : "The server did not answer. Try again when you are connected. It will not be done twice.";
};

document.addEventListener("submit", async (event) => {
  if (!event.target.matches("[data-act]")) return;
  event.preventDefault();
  stopDrafts();
  const dialog = event.target.closest("dialog");
  sayUnsent(dialog, null);
  dialog?.close();
  const error = await act(event.target.action, fieldsOf(event.target));
  if (!error) return;
  changed();
  if (!dialog?.isConnected) return sayUnsent(null, error);
  dialog.showModal();
  sayUnsent(dialog, error);
});

const takeBack = async (button) => {
  const shown = button.closest("[data-toast]");
  sayUnsent(shown, null);
  keepToast();
  sayUnsent(shown, await act(button.dataset.undo, []));
};

document.addEventListener("click", (event) => {
  const undo = event.target.closest("[data-undo]");
  if (undo) takeBack(undo);
  const flag = event.target.closest("[data-flag]");
  if (flag) {
    const pressed = flag.getAttribute("aria-pressed") !== "true";
    flag.setAttribute("aria-pressed", pressed);
    document.querySelector("[name=flagged]").value = pressed ? "1" : "";
    changed();
  }
});

for (const name of ["keydown", "pointerdown", "wheel"]) addEventListener(name, () => (active = Date.now()), { passive: true });
setInterval(() => {
  const seconds = document.querySelector("form[data-work] [name=seconds]");
  if (seconds && document.visibilityState === "visible" && Date.now() - active < IDLE) seconds.value = Number(seconds.value) + 1;
}, 1000);

addEventListener("popstate", async () => {
  try {
    const response = await get(location.href);
    swapMain(await response.text(), response.url, { push: false });
  } catch {
    location.reload();
  }
});
