// The agreement page: heat map and table over the same data; a cell opens the examples behind it; a point of the chart over time, too.
import { Chart, opensPoints, saving } from "../reports/chart.js";
import { Grid } from "../reports/grid.js";
import { Heat } from "../reports/heat.js";
import { showing } from "../reports/matrix_view_toggle.js";

const { matrix, periods } = JSON.parse(document.getElementById("agreement-data").textContent);
const behind = new Map(matrix.cells.map((cell, place) => [cell.join(), matrix.addresses[place]]));
const open = (cell) => {
  const address = behind.get(cell.join());
  if (address) location.assign(address);
};
new Grid(document.querySelector(".only-table.scroll-x"), open);
const heat = globalThis.Plotly ? new Heat(document.getElementById("heat"), matrix, open) : null;
showing(heat);

const line = document.getElementById("periods");
const overTime = line && globalThis.Plotly ? new Chart(line, periods) : null;
if (overTime) {
  overTime.draw();
  opensPoints(overTime);
}
saving({ heat, periods: overTime });
