// The agreement page: heat map and table over the same data; a cell opens the examples behind it; a chart over time.
import { Chart } from "../reports/chart.js";
import { Heat } from "../reports/heat.js";

const root = document.documentElement;
const { matrix, periods } = JSON.parse(document.getElementById("agreement-data").textContent);
const behind = new Map(matrix.cells.map((cell, place) => [cell.join(), matrix.addresses[place]]));
const open = (cell) => {
  const address = behind.get(cell.join());
  if (address) location.assign(address);
};
const heat = globalThis.Plotly ? new Heat(document.getElementById("heat"), matrix, open) : null;

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
if (root.dataset.matrixShow === "heat" && heat) heat.draw();
else root.dataset.matrixShow = "table";

const line = document.getElementById("periods");
if (line && globalThis.Plotly) new Chart(line, periods).draw();
