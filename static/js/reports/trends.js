// Trends: one chart for each rate, in which a point opens its run.
import { Chart, opensPoints, saving } from "./chart.js";
import { submitOnChange } from "./filters.js";

const source = document.getElementById("trend-data");
const charts = {};
if (source && globalThis.Plotly) {
  for (const [id, chart] of Object.entries(JSON.parse(source.textContent))) {
    charts[id] = new Chart(document.getElementById(id), chart);
  }
  for (const chart of Object.values(charts)) {
    chart.draw();
    opensPoints(chart);
  }
}
saving(charts);
const choices = document.querySelector("[data-filters]");
if (choices) submitOnChange(choices);
