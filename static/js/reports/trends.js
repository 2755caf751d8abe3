// Trends: one chart for each rate, in which a point opens its run.
import { Chart } from "./chart.js";
import { submitOnChange } from "./filters.js";

const source = document.getElementById("trend-data");
const charts = new Map();
if (source && globalThis.Plotly) {
  for (const [id, chart] of Object.entries(JSON.parse(source.textContent))) {
    charts.set(id, new Chart(document.getElementById(id), chart));
  }
  for (const chart of charts.values()) {
    chart.draw().then(() =>
      chart.element.on("plotly_click", ({ points }) => {
        if (points[0]?.customdata) location.assign(points[0].customdata);
      }),
    );
  }
}
for (const button of document.querySelectorAll("[data-image]")) {
  button.addEventListener("click", () => charts.get(button.dataset.of)?.save(button.dataset.image, button.dataset.of));
}
const choices = document.querySelector("[data-filters]");
if (choices) submitOnChange(choices);
