// The trends of an experiment: one chart for each rate.
import { Chart } from "./chart.js";

const source = document.getElementById("trend-data");
const charts = new Map();
if (source && globalThis.Plotly) {
  for (const [id, chart] of Object.entries(JSON.parse(source.textContent))) {
    charts.set(id, new Chart(document.getElementById(id), chart));
  }
  for (const chart of charts.values()) chart.draw();
}
for (const button of document.querySelectorAll("[data-image]")) {
  button.addEventListener("click", () => charts.get(button.dataset.of)?.save(button.dataset.image, button.dataset.of));
}
