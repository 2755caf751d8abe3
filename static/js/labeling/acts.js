// The acts around a label: skip, flag, undo, the conflict that interrupts, and the seconds of work.
import { open } from "../keys.js";
import { changed, forgetDraft, stopDrafts } from "./drafts.js";
import { showNotDone, showSignedOut } from "./saved.js";
import { fieldsOf, get, isJson, post, SignedOut } from "./server.js";
import { onMain, swapMain } from "./swap.js";

const IDLE = 60000;
const TOAST = 30000;
let active = Date.now();
let toast = 0;

const interrupt = ({ message, url }) => {
  document.querySelector("[data-conflict]").textContent = message;
  document.querySelector("[data-conflict-url]").href = url;
  open("conflict");
};
document.addEventListener("conflict", (event) => interrupt(event.detail));

// Does what cannot wait, such as a skip; returns whether the server answered. If not, everything is as it was before, and
// the line at the top says so.
export const act = async (url, fields) => {
  try {
    const response = await post(url, fields);
    if (isJson(response)) interrupt(await response.json());
    else {
      const { user, slot } = document.getElementById("main").dataset;
      if (fields.length) forgetDraft(user, slot);
      swapMain(await response.text(), response.headers.get("HX-Push-Url"));
    }
    return true;
  } catch (error) {
    if (error instanceof SignedOut) showSignedOut();
    else showNotDone();
    return false;
  }
};

const sayUnsent = (place, isUnsent) => {
  const words = place?.querySelector("[data-unsent]");
  if (words) words.hidden = !isUnsent;
};

document.addEventListener("submit", async (event) => {
  if (!event.target.matches("[data-act]")) return;
  event.preventDefault();
  stopDrafts();
  const dialog = event.target.closest("dialog");
  sayUnsent(dialog, false);
  dialog?.close();
  if (await act(event.target.action, fieldsOf(event.target))) return;
  changed();
  if (!dialog?.isConnected) return;
  dialog.showModal();
  sayUnsent(dialog, true);
});

const takeBack = async (button) => {
  const shown = button.closest("[data-toast]");
  sayUnsent(shown, false);
  clearTimeout(toast);
  if (await act(button.dataset.undo, [])) return;
  sayUnsent(shown, true);
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

const hideToast = () => document.querySelector("[data-toast]")?.remove();

for (const name of ["keydown", "pointerdown", "wheel"]) addEventListener(name, () => (active = Date.now()), { passive: true });
setInterval(() => {
  const seconds = document.querySelector("form[data-work] [name=seconds]");
  if (seconds && document.visibilityState === "visible" && Date.now() - active < IDLE) seconds.value = Number(seconds.value) + 1;
}, 1000);

onMain((main) => {
  clearTimeout(toast);
  const shown = main.querySelector("[data-toast]");
  if (shown) toast = setTimeout(hideToast, Number(shown.dataset.seconds) * 1000 || TOAST);
});
addEventListener("popstate", async () => {
  try {
    const response = await get(location.href);
    swapMain(await response.text(), response.url, { push: false });
  } catch {
    location.reload();
  }
});
