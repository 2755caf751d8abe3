// The coverage page: heat map and table over the same data; a cell opens the examples behind it.
import { Heat } from "../reports/heat.js";

const root = document.documentElement;
const document_ = JSON.parse(document.getElementById("coverage-data").textContent);
const element = document.getElementById("heat");
const heat = globalThis.Plotly
  ? new Heat(element, document_, ([row, column]) => location.assign(document_.addresses[row][column]))
  : null;

const show = (kind) => {
  root.dataset.matrixShow = kind;
  try {
    localStorage.setItem("matrix-show", kind);
  } catch {
    // not kept, but shown
  }
  if (kind === "heat") heat?.draw();
};

const other = document.querySelector("[data-show-other]");
other.addEventListener("click", () => show(root.dataset.matrixShow === "heat" ? "table" : "heat"));
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select");
  if (event.key === "t" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) other.click();
});
document.querySelector(".coverage-filters").addEventListener("change", (event) => {
  if (event.target.type === "radio") event.currentTarget.requestSubmit();
});
if (root.dataset.matrixShow === "heat" && heat) heat.draw();
else root.dataset.matrixShow = "table";
