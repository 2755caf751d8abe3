// The coverage page: heat map and table over the same data; a cell opens the examples behind it.
import { saving } from "../reports/chart.js";
import { Heat } from "../reports/heat.js";
import { showing } from "../reports/matrix_view_toggle.js";

const matrix = JSON.parse(document.getElementById("coverage-data").textContent);
const open = ([row, column]) => location.assign(matrix.addresses[row][column]);
const heat = globalThis.Plotly ? new Heat(document.getElementById("heat"), matrix, open) : null;
showing(heat);
saving({ heat });

document.querySelector(".coverage-filters").addEventListener("change", (event) => {
  if (event.target.type === "radio") event.currentTarget.requestSubmit();
});
