// The matrix as a heat map: cells by place, a ring around the selected one, labels as dense as there is room.
import { Chart } from "./chart.js";

const LABEL = 13; // pixels that one label needs
const ROW = 33;
const TALLEST = 760;
const FOOT = 76; // the margin of the columns
const GAP = 12;
const NARROW = 560; // no room for what the margin of the rows is called

// Of names that have no room the classes that are no tools come first, "(none)" before all, then each so many-th tool.
const thinned = (axis, range, pixels) => {
  const [low, high] = [Math.min(...range), Math.max(...range)];
  const shown = axis.tickvals.filter((value) => value >= low && value <= high);
  const step = Math.max(1, Math.ceil((shown.length * LABEL) / Math.max(pixels, 1)));
  const special = shown.filter((value) => /^\(.*\)$/.test(axis.ticktext[value]));
  const kept = [];
  for (const value of [...special, ...shown.filter((_, place) => place % step === 0)]) {
    if (kept.every((other) => Math.abs(other - value) >= step)) kept.push(value);
  }
  kept.sort((one, other) => one - other);
  return { ...axis, tickvals: kept, ticktext: kept.map((value) => axis.ticktext[value]) };
};

// Where the cases of a whole row or column are listed.
export const casesOf = (matrix, side, place) => {
  const parameters = new URLSearchParams(matrix.query);
  parameters.set(side === "rows" ? "expected" : "actual", matrix[side][place]);
  return `${matrix.cases}?${parameters}`;
};

const ring = ([row, column], color, width) => ({
  type: "rect",
  x0: column - 0.5,
  x1: column + 0.5,
  y0: row - 0.5,
  y1: row + 0.5,
  line: { color, width },
});

export class Heat {
  constructor(element, matrix, open) {
    this.element = element;
    this.matrix = matrix;
    this.open = open;
    this.selected = null;
    this.cursor = null;
    this.ranges = null;
    this.drawn = false;
    this.chart = new Chart(element, matrix.chart, (layout) => this.fitted(layout));
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("focus", () => element.matches(":focus-visible") && this.point());
  }

  async draw() {
    await this.chart.draw();
    if (this.drawn) return;
    this.drawn = true;
    this.element.on("plotly_click", ({ points }) => this.clicked(points[0]));
    this.element.on("plotly_relayout", (change) => this.zoomed(change));
  }

  // A cell opens; a mark in the margins leads to the cases of its row or column.
  clicked({ curveNumber, x, y }) {
    if (curveNumber === 0) this.open([y, x]);
    else location.assign(casesOf(this.matrix, curveNumber === 1 ? "rows" : "columns", curveNumber === 1 ? y : x));
  }

  fitted(layout) {
    const rows = this.matrix.rows.length;
    const room = this.element.clientWidth;
    const height = Math.min(rows * ROW, TALLEST);
    const foot = layout.yaxis2 ? FOOT : 0;
    layout.height = height + foot + 190;
    if (foot) {
      layout.yaxis.domain = [foot / (height + foot), 1];
      layout.yaxis2.domain = [0, (foot - GAP) / (height + foot)];
    }
    if (foot && room < NARROW) {
      layout.xaxis2.showticklabels = false;
      layout.xaxis2.title.text = "";
    }
    // Longer names widen it by themselves; this is for what stands in the corner.
    layout.margin = { ...layout.margin, l: 76, t: 44 };
    if (this.ranges) {
      layout.xaxis.range = this.ranges.x;
      layout.yaxis.range = this.ranges.y;
    }
    layout.xaxis = thinned(layout.xaxis, layout.xaxis.range, room - 190);
    layout.yaxis = thinned(layout.yaxis, layout.yaxis.range, height);
    const { color } = layout.font;
    layout.shapes = [];
    if (this.cursor) layout.shapes.push({ ...ring(this.cursor, color, 1.5), line: { color, width: 1.5, dash: "dot" } });
    if (this.selected) layout.shapes.push(ring(this.selected, color, 2.5));
    return layout;
  }

  zoomed(change) {
    if (change["xaxis.range[0]"] === undefined && change["yaxis.range[0]"] === undefined) return;
    const { xaxis, yaxis } = this.element.layout;
    this.ranges = { x: [...xaxis.range], y: [...yaxis.range] };
    this.draw();
  }

  reset() {
    this.ranges = null;
    return this.draw();
  }

  select(cell) {
    this.selected = cell;
    this.cursor = null;
    if (this.drawn) this.draw();
  }

  // By keyboard one sees from where the arrows move, and what Enter opens.
  point() {
    if (this.selected || this.cursor || !this.drawn) return;
    this.cursor = this.matrix.cells[0] || null;
    this.draw();
  }

  // Arrows move a dotted ring over the cells that hold something; Enter opens.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const from = this.cursor || this.selected || this.matrix.cells[0];
    if (event.key === "Enter" && from) {
      event.preventDefault();
      this.open(from, { focusCases: true });
    }
    const step = steps[event.key];
    if (!step || !from) return;
    event.preventDefault();
    this.cursor = nearest(this.matrix.cells, from, step) || from;
    this.draw();
  }
}

// The nearest cell in a direction: in the same row, or in the next row that holds one, the closest column.
export const nearest = (cells, [row, column], [down, right]) => {
  const ahead = cells.filter(([r, c]) => (right ? r === row && (c - column) * right > 0 : (r - row) * down > 0));
  const distance = ([r, c]) => (right ? Math.abs(c - column) : Math.abs(r - row) * 10000 + Math.abs(c - column));
  return ahead.sort((one, other) => distance(one) - distance(other))[0] || null;
};
