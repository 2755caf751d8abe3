// Trends: one chart for each rate, in which a point opens its run.
import { Chart, saving } from "./chart.js";
import { submitOnChange } from "./filters.js";

const NEAR = 20; // pixels: as far as Plotly looks for what it hovers over

// What the point leads to that is nearest to a place; "" where none is near.
const addressAt = (chart, { across, down }) => {
  const { xaxis, yaxis } = chart.element._fullLayout;
  const points = chart.chart.data.flatMap(({ x, y, customdata }) =>
    (customdata || []).map((address, at) => [Math.hypot(xaxis.d2p(x[at]) - across, yaxis.d2p(y[at]) - down), address]),
  );
  const [distance, address] = points.reduce((best, point) => (point[0] < best[0] ? point : best), [Infinity, ""]);
  return distance <= NEAR ? address : "";
};

const source = document.getElementById("trend-data");
const charts = {};
if (source && globalThis.Plotly) {
  for (const [id, chart] of Object.entries(JSON.parse(source.textContent))) {
    charts[id] = new Chart(document.getElementById(id), chart);
  }
  for (const chart of Object.values(charts)) {
    chart.draw();
    chart.element.on("plotly_click", ({ event }) => {
      const address = addressAt(chart, chart.placeOf(event));
      if (address) location.assign(address);
    });
  }
}
saving(charts);
const choices = document.querySelector("[data-filters]");
if (choices) submitOnChange(choices);
