// The next example, handed out while this one is labelled, for a server that is slow or lost. It is an ordinary claim, and
// what it shows is in this page's memory alone: it goes with the page, and nothing of it is written to a disk.
import { person } from "../session.js";
import { isAccepted, post } from "./server.js";
import { keysOf } from "./storage.js";
import { onMain, swapMain } from "./swap.js";

let held = null;
// The example for which it was asked already: where there is none, it is not asked for with every key.
let askedAt = "";
let asking = false;

const main = () => document.getElementById("main");
const scope = () => document.querySelector("form[data-work] [name=scope]")?.value ?? "";
const slotIn = (html) => new DOMParser().parseFromString(html, "text/html").getElementById("main")?.dataset.slot;

// The fields by which the server is told what this page holds.
export const heldFields = () => (held ? [["ahead", held.slot]] : []);
// Somebody else may have it now.
export const forgetHeld = () => (held = null);

const take = async () => {
  const { aheadUrl, slot } = main()?.dataset ?? {};
  if (!aheadUrl || held || asking) return;
  askedAt = slot;
  // What waits to be sent is still claimed: it would be handed out again.
  if (keysOf("outbox", person()).length) return;
  asking = true;
  try {
    const response = await post(aheadUrl, [["scope", scope()]]);
    const html = await response.text();
    const next = isAccepted(response) ? slotIn(html) : "";
    if (next && next !== main().dataset.slot) held = { slot: next, html, url: response.headers.get("HX-Push-Url") };
  } catch {
    // Without a next example one waits for the server; it is asked for again once that answers.
  } finally {
    asking = false;
  }
};

// Shows it in the place of an example that is handed in; returns whether there was one.
export const showHeld = () => {
  if (!held) return false;
  const { html, url } = held;
  held = null;
  swapMain(html, url);
  return true;
};

const again = () => askedAt === main()?.dataset.slot && take();

document.addEventListener("edited", () => askedAt !== main().dataset.slot && take());
document.addEventListener("reached", again);
document.addEventListener("sent", again);
document.addEventListener("signed-in", again);
addEventListener("online", again);
// "Leave" gives both back.
document.addEventListener("submit", ({ target }) => {
  const field = target.querySelector("input[type=hidden][name=ahead]");
  if (field) field.value = held?.slot ?? "";
});
onMain((page) => {
  if (held?.slot === page.dataset.slot) held = null;
});
