// The same example in another tab of this browser: each of the two says so, before either hands it in.
import { onMain } from "./swap.js";

const channel = window.BroadcastChannel ? new BroadcastChannel("open-examples") : null;
const tab = String(crypto.getRandomValues(new Uint32Array(2)));
const others = new Set();
let slot = "";

const show = () => {
  const words = document.querySelector("[data-elsewhere]");
  if (words) words.hidden = others.size === 0;
};
const say = (kind) => slot && channel?.postMessage({ kind, slot, tab });

channel?.addEventListener("message", ({ data }) => {
  if (!slot || data?.slot !== slot) return;
  if (data.kind === "left") others.delete(data.tab);
  else others.add(data.tab);
  if (data.kind === "open") say("here");
  show();
});

// A tab that has crashed has not said that it is gone: who comes back asks again.
const ask = () => {
  others.clear();
  show();
  say("open");
};

onMain((main) => {
  say("left");
  slot = main?.dataset.slot ?? "";
  ask();
});
addEventListener("pagehide", () => say("left"));
addEventListener("pageshow", (event) => event.persisted && ask());
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && ask());
