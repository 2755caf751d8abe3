// The panes beside the form: guidelines and questions. One is open at a time; what it holds is fetched when it is opened,
// and it stays open from one example to the next.
import { get, SignedOut } from "./server.js";
import { onMain } from "./swap.js";
import { fillQuestions } from "./talk.js";

const drawers = () => [...document.querySelectorAll(".drawer")];
const openerOf = (id) => document.querySelector(`:is(.workbar, .actions) [data-drawer="${id}"]`);
let kept = "";

const load = async (drawer) => {
  const body = drawer.querySelector("[data-lazy]");
  if (!body) return;
  const url = body.dataset.lazy;
  delete body.dataset.lazy;
  try {
    const response = await get(url);
    window.htmx.swap(body, await response.text(), { swapStyle: "innerHTML", swapDelay: 0, settleDelay: 0 });
    fillQuestions(body);
  } catch (error) {
    body.dataset.lazy = url;
    const why = error instanceof SignedOut ? "You are signed out." : "The server did not answer.";
    body.textContent = `${why} Close this and open it again.`;
  }
};

const set = (drawer, opens) => {
  drawer.classList.toggle("is-open", opens);
  openerOf(drawer.id)?.setAttribute("aria-expanded", opens);
  const url = new URL(location.href);
  if (opens) url.searchParams.set(drawer.id, "1");
  else url.searchParams.delete(drawer.id);
  history.replaceState(history.state, "", url);
  if (opens) return load(drawer);
};

const toggle = async (id) => {
  const drawer = document.getElementById(id);
  const opens = !drawer.classList.contains("is-open");
  for (const other of drawers()) if (other !== drawer) set(other, false);
  kept = opens ? id : "";
  drawer.closest(".panes").classList.toggle("has-drawer", opens);
  const loaded = set(drawer, opens);
  if (!opens) return openerOf(id)?.focus();
  drawer.focus();
  if (id !== "ask") return;
  await loaded;
  drawer.querySelector("[data-question]")?.focus();
};

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-drawer]");
  if (!opener) return;
  event.preventDefault();
  toggle(opener.dataset.drawer);
});
onMain((main) => {
  const wanted = kept && main.querySelector(`.drawer#${kept}`);
  const drawer = main.querySelector(".drawer.is-open") ?? wanted;
  if (!drawer) return;
  kept = drawer.id;
  drawer.closest(".panes").classList.add("has-drawer");
  set(drawer, true);
});
