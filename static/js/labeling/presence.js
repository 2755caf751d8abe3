// Whether somebody is at work on the claimed example: while they are, the claim is renewed; when they leave, it ends soon.
// A reload, or coming back, renews it.
import { token } from "../session.js";
import { forgetHeld, heldFields } from "./next_example.js";
import { showAnswers } from "./saved.js";
import { isJson, post } from "./server.js";
import { onMain } from "./swap.js";

const EVERY = 60000;
// Without a key, a pointer or a scroll for so long, nobody is there.
const IDLE = 300000;
let active = Date.now();
let last = Date.now();

const main = () => document.getElementById("main");

const renew = async () => {
  const url = main()?.dataset.renewUrl;
  if (!url) return;
  last = Date.now();
  try {
    const ahead = heldFields();
    const response = await post(url, ahead);
    if (!isJson(response) || main().dataset.renewUrl !== url) return;
    const answer = await response.json();
    if (ahead.length && !answer.ahead) forgetHeld();
    if (response.status === 409) document.dispatchEvent(new CustomEvent("conflict", { detail: answer }));
    else if (response.ok) showAnswers(answer.answers);
  } catch {
    // Drafts and the outbox say that the connection is lost, the page that one is signed out.
  }
};

const leave = () => {
  const { leaveUrl } = main()?.dataset ?? {};
  if (leaveUrl) navigator.sendBeacon(leaveUrl, new URLSearchParams([["csrfmiddlewaretoken", token()], ...heldFields()]));
};

for (const name of ["keydown", "pointerdown", "wheel"]) addEventListener(name, () => (active = Date.now()), { passive: true });
setInterval(() => {
  const now = Date.now();
  if (document.visibilityState === "visible" && now - active < IDLE && now - last >= EVERY) renew();
}, 5000);
addEventListener("pagehide", leave);
// Before the session ends; a page that stays, because something waits, renews its claims in a moment.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-sign-out]")) return;
  leave();
  last = 0;
});
addEventListener("pageshow", (event) => event.persisted && renew());
onMain(() => (last = Date.now()));
