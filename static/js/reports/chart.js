// Draws a chart that the server made: its traces once, its colours by the theme of the page.
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset", showTips: false };

export const theme = () => (document.documentElement.dataset.bsTheme === "dark" ? "dark" : "light");

// Lets the buttons for pictures save the charts that they are of: `charts` by the ids of their elements.
export const saving = (charts) => {
  for (const button of document.querySelectorAll("[data-image]")) {
    const { image, of, file } = button.dataset;
    button.addEventListener("click", () => charts[of]?.save(image, file));
  }
};

export class Chart {
  // `change` may alter the layout before each drawing.
  constructor(element, chart, change = (layout) => layout) {
    this.element = element;
    this.chart = chart;
    this.change = change;
    document.addEventListener("themechange", () => this.draw());
  }

  // What is drawn in the theme of the page.
  figure(change = this.change) {
    const { traces, layout } = this.chart.themes[theme()];
    const data = this.chart.data.map((trace, place) => ({ ...trace, ...traces[place] }));
    return { data, layout: change(structuredClone(layout)) };
  }

  // Drawing may be awaited; who listens to the chart can do so at once.
  async draw() {
    const { data, layout } = this.figure();
    // Plotly forgets what the pointer is over where a button goes down within 50 ms of a move, and such clicks were lost:
    // it is to say all of them, and `placeOf` where they are.
    layout.clickanywhere = true;
    await globalThis.Plotly.react(this.element, data, layout, CONFIG);
  }

  // Where the event of a click is: the subplot, pixels from its corner, and what the axes say there.
  placeOf({ target, clientX, clientY }) {
    const { xaxis, yaxis } = this.element._fullLayout;
    const { left, top } = target.getBoundingClientRect();
    const [across, down] = [clientX - left, clientY - top];
    return { subplot: target.dataset.subplot, across, down, x: xaxis.p2d(across), y: yaxis.p2d(down) };
  }

  async save(format, filename) {
    const { width, height } = this.element.getBoundingClientRect();
    await globalThis.Plotly.downloadImage(this.element, { format, filename, width, height, scale: format === "png" ? 2 : 1 });
  }
}

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

// Lets a click on a drawn chart open what the nearest point leads to.
export const opensPoints = (chart) => {
  chart.element.on("plotly_click", ({ event }) => {
    const address = addressAt(chart, chart.placeOf(event));
    if (address) location.assign(address);
  });
};
