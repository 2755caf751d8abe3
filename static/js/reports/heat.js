// The matrix as a heat map: cells by place, a ring around the selected one, labels as dense as there is room.
import { Chart } from "./chart.js";
import { Names, plain } from "./names.js";

const LABEL = 13; // pixels that one label needs
const SMALL = 10; // and a small one, where there are many
const NUMBER = 24; // and a column whose cells hold numbers
const ROW = 33;
const TALLEST = 760;
const LOWEST = 320; // the whole matrix in a window, whatever its height
const AROUND = 300; // what stands above and below its cells
const FOOT = 76; // the margin of the columns
const SIDE = 90; // and of the rows
const GAP = 12;
const NAMES = 210; // what stands beside the cells: names, and room
const NARROW = 560; // no room for what the margin of the rows is called
const BESIDE = 16; // between a name and its cells, and beyond it
const PICTURE = 720; // a picture is at least so wide, whatever the window

// Of names that have no room the classes that are no tools come first, "(none)" before all, then each so many-th tool.
const thinned = (axis, range, pixels, label) => {
  const [low, high] = [Math.min(...range), Math.max(...range)];
  const shown = axis.tickvals.filter((value) => value >= low && value <= high);
  const step = Math.max(1, Math.ceil((shown.length * label) / Math.max(pixels, 1)));
  const special = shown.filter((value) => /^\(.*\)$/.test(axis.ticktext[value]));
  const kept = [];
  for (const value of [...special, ...shown.filter((_, place) => place % step === 0)]) {
    if (kept.every((other) => Math.abs(other - value) >= step)) kept.push(value);
  }
  kept.sort((one, other) => one - other);
  return { ...axis, tickvals: kept, ticktext: kept.map((value) => axis.ticktext[value]) };
};

// Pixels that an axis needs for its names. The chart finds the same by itself, and draws all a second time then.
const pen = document.createElement("canvas").getContext("2d");
const needed = ({ tickfont, ticktext }) => {
  if (!pen) return 0;
  pen.font = `${tickfont.size}px ${tickfont.family}`;
  return Math.ceil(Math.max(0, ...ticktext.map((text) => pen.measureText(plain(text)).width)) + BESIDE);
};

// Where the cases of a whole row or column are listed.
export const casesOf = (matrix, side, place) => {
  const parameters = new URLSearchParams(matrix.query);
  parameters.set(side === "rows" ? "expected" : "actual", matrix[side][place]);
  return `${matrix.cases}?${parameters}`;
};

// Between blocks of classes a line, no wider than a third of a cell.
const line = (side, place, color, cell) => {
  const [along, across] = side === "rows" ? ["y", "x"] : ["x", "y"];
  const at = place - 0.5;
  return { type: "line", [`${along}0`]: at, [`${along}1`]: at, [`${across}0`]: 0, [`${across}1`]: 1, [`${across}ref`]: `${across} domain`, line: { color, width: Math.min(4, Math.max(cell / 3, 0.5)) } };
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
    this.listens = false;
    this.whole = false;
    // More than fits is scrolled inside a frame, so that every name stands beside its row.
    this.frame = Object.assign(document.createElement("div"), { className: "heat-frame" });
    this.inner = Object.assign(document.createElement("div"), { className: "heat-inner" });
    element.before(this.frame);
    this.frame.append(this.inner);
    this.names = new Names(this.inner, element, matrix);
    this.chart = new Chart(element, matrix.chart, (layout) => this.fitted(layout));
    new ResizeObserver(() => this.resized()).observe(this.frame);
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("focus", () => element.matches(":focus-visible") && this.point());
  }

  async draw() {
    this.size();
    const drawing = this.chart.draw();
    // Before it is wholly drawn: a cell that is in sight can be clicked.
    if (!this.listens) this.listen();
    await drawing;
    if (this.isLarge) this.names.draw();
    else this.names.clear();
    if (this.drawn) return;
    this.drawn = true;
    if (this.selected && this.isLarge) this.reveal(this.selected);
  }

  // Its width is said and not the chart's own choice: drawn narrower, a chart would keep the width that it had.
  resized() {
    const { clientWidth } = this.frame;
    if (this.drawn && clientWidth && clientWidth !== this.wide) this.draw();
  }

  listen() {
    this.listens = true;
    this.element.on("plotly_click", ({ event }) => this.clicked(this.chart.placeOf(event)));
    this.element.on("plotly_relayout", (change) => this.zoomed(change));
  }

  // A cell that holds something opens; the margins lead to the cases of their row or column.
  clicked({ subplot, x, y }) {
    const { cells, rows, columns } = this.matrix;
    const [row, column] = [Math.round(y), Math.round(x)];
    if (subplot === "xy" && cells.some((cell) => cell[0] === row && cell[1] === column)) this.open([row, column]);
    if (subplot === "x2y" && row in rows) location.assign(casesOf(this.matrix, "rows", row));
    if (subplot === "xy2" && column in columns) location.assign(casesOf(this.matrix, "columns", column));
  }

  // How wide and high the cells are: as there is room, and at least so that every name has its place.
  size() {
    const { rows, columns } = this.matrix;
    const numbered = Boolean(this.matrix.chart.data[0].texttemplate);
    const least = numbered ? NUMBER : SMALL;
    const wide = (columns.length * least) / 0.885 + NAMES;
    this.wide = this.frame.clientWidth;
    const tallest = this.whole ? Math.min(Math.max(innerHeight - AROUND, LOWEST), TALLEST) : TALLEST;
    this.height = Math.max(Math.min(rows.length * ROW, tallest), this.whole ? 0 : rows.length * (numbered ? LABEL : SMALL));
    this.isWide = !this.whole && wide > this.wide;
    this.isTall = this.height > TALLEST;
    // Without numbers there are many: all their names have room only beside the chart.
    this.isLarge = this.isWide || this.isTall || (!this.whole && !numbered);
    this.inner.style.minWidth = this.isWide ? `${Math.ceil(wide)}px` : "";
    this.frame.classList.toggle("is-tall", this.isTall);
  }

  // `image`: how wide a file is, that has nothing beside it that could say the names.
  fitted(layout, { image = 0 } = {}) {
    const room = image || this.element.clientWidth;
    const { height } = this;
    const foot = layout.yaxis2 ? FOOT : 0;
    layout.height = height + foot + 190;
    if (!image) layout.width = room;
    if (foot) {
      layout.yaxis.domain = [foot / (height + foot), 1];
      layout.yaxis2.domain = [0, (foot - GAP) / (height + foot)];
    }
    if (foot && room < NARROW) {
      // Nor for the numbers beside the marks: the table has them.
      layout.annotations = layout.annotations.filter(({ name }) => name !== "margin");
      layout.margin.r = 8;
      layout.xaxis2.showticklabels = false;
      layout.xaxis2.title.text = "";
    }
    // For what stands in the corner; longer names widen it.
    layout.margin = { ...layout.margin, l: 76, t: 44 };
    if (this.ranges) {
      layout.xaxis.range = this.ranges.x;
      layout.yaxis.range = this.ranges.y;
    }
    if (this.isLarge && !image) this.named(layout, room, foot);
    const label = this.isLarge ? SMALL : LABEL;
    if (label === SMALL && image) for (const axis of [layout.xaxis, layout.yaxis]) axis.tickfont.size = 9.5;
    layout.xaxis = thinned(layout.xaxis, layout.xaxis.range, this.isWide ? room : room - 190, label);
    layout.yaxis = thinned(layout.yaxis, layout.yaxis.range, height, label);
    if (!this.isLarge || image) {
      layout.margin.l = Math.max(layout.margin.l, Math.min(needed(layout.yaxis), room / 3));
      layout.margin.t = Math.max(layout.margin.t, needed(layout.xaxis));
    }
    this.cell = { rows: height / this.matrix.rows.length, columns: room / this.matrix.columns.length };
    this.color = layout.font.color;
    this.between = layout.paper_bgcolor;
    layout.shapes = this.shapes();
    return layout;
  }

  async save(format, filename) {
    const width = Math.max(this.element.clientWidth, PICTURE);
    if (!this.isLarge && width === this.element.clientWidth) return this.chart.save(format, filename);
    const figure = this.chart.figure((layout) => this.fitted(layout, { image: width }));
    const { height } = figure.layout;
    return globalThis.Plotly.downloadImage(figure, { format, filename, width, height, scale: format === "png" ? 2 : 1 });
  }

  // Names that stay in sight take the place of the chart's own, which take seconds where there are hundreds.
  named(layout, room, foot) {
    this.names.fit(layout, this.matrix.chart.data[0].texttemplate ? 11 : 9.5, this.frame.clientWidth);
    const { width, height } = this.names;
    for (const axis of [layout.xaxis, layout.yaxis]) Object.assign(axis, { showticklabels: false, automargin: false });
    layout.annotations = [];
    layout.margin = { l: width, r: 16, t: height, b: 16 };
    layout.height = height + this.height + foot + 16;
    if (!foot) return;
    const plot = room - width - 16;
    layout.xaxis.domain = [0, 1 - (SIDE + GAP) / plot];
    layout.xaxis2.domain = [1 - SIDE / plot, 1];
    // The scale of the recall is the precision's, and has no room beside the names.
    Object.assign(layout.xaxis2, { side: "bottom", automargin: false });
    Object.assign(layout.yaxis2, { side: "right", automargin: false, showticklabels: false });
    layout.yaxis2.title.text = "";
  }

  shapes() {
    const { color, between, matrix, cursor, selected } = this;
    const shapes = Object.entries(matrix.gaps || {}).flatMap(([side, places]) => places.map((place) => line(side, place, between, this.cell[side])));
    if (cursor) shapes.push({ ...ring(cursor, color, 1.5), line: { color, width: 1.5, dash: "dot" } });
    if (selected) shapes.push(ring(selected, color, 2.5));
    return shapes;
  }

  // The rings alone: of a large matrix everything else takes longer.
  async mark(cell) {
    if (!this.drawn) return;
    await globalThis.Plotly.relayout(this.element, { shapes: this.shapes() });
    if (cell) this.reveal(cell);
  }

  reveal([row, column]) {
    const { xaxis, yaxis } = this.element._fullLayout;
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = this.frame;
    const { width, height } = this.names;
    const x = this.element.offsetLeft + xaxis._offset + xaxis.l2p(column);
    const y = this.element.offsetTop + yaxis._offset + yaxis.l2p(row);
    const beyond = (at, from, names, size) => at < from + names + 40 || at > from + size - 40;
    if (beyond(x, scrollLeft, width, clientWidth)) this.frame.scrollLeft = x - (width + clientWidth) / 2;
    if (beyond(y, scrollTop, height, clientHeight)) this.frame.scrollTop = y - (height + clientHeight) / 2;
  }

  zoomed(change) {
    if (change["xaxis.range[0]"] === undefined && change["yaxis.range[0]"] === undefined) return;
    const { xaxis, yaxis } = this.element.layout;
    this.ranges = { x: [...xaxis.range], y: [...yaxis.range] };
    this.draw();
  }

  // The whole matrix, unzoomed, in the frame and no higher than the window; and again with every name.
  reset() {
    if (!this.ranges) this.whole = !this.whole;
    this.ranges = null;
    return this.draw();
  }

  select(cell) {
    this.selected = cell;
    this.cursor = null;
    this.mark(cell);
  }

  // By keyboard one sees from where the arrows move, and what Enter opens.
  point() {
    if (this.selected || this.cursor || !this.drawn) return;
    this.cursor = this.matrix.cells[0] || null;
    this.mark(this.cursor);
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
    this.mark(this.cursor);
  }
}

// The nearest cell in a direction: in the same row, or in the next row that holds one, the closest column.
export const nearest = (cells, [row, column], [down, right]) => {
  const ahead = cells.filter(([r, c]) => (right ? r === row && (c - column) * right > 0 : (r - row) * down > 0));
  const distance = ([r, c]) => (right ? Math.abs(c - column) : Math.abs(r - row) * 10000 + Math.abs(c - column));
  return ahead.sort((one, other) => distance(one) - distance(other))[0] || null;
};
