// A matrix too large for a table of links: the same cells, of which only those in sight are on the page.
import { casesOf, nearest } from "./heat.js";
import { short } from "./names.js";

const ROW = 26;
const COLUMN = 34;
const SIDE = 220;
const HEAD = 176;
const FOOT = 84; // precision of the columns
const MARGIN = 148; // n and recall of the rows
const AROUND = 4; // rows and columns beyond what is in sight
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

const made = (kind, attributes, ...children) => {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const placed = (element, left, top) => {
  if (left !== null) element.style.left = `${left}px`;
  if (top !== null) element.style.top = `${top}px`;
  return element;
};

export class VirtualGrid {
  constructor(root, matrix, open) {
    this.root = root;
    this.matrix = matrix;
    this.current = matrix.cells[0] || [0, 0];
    this.selected = null;
    const { x, y, z, text } = matrix.chart.data[0];
    this.rows = matrix.rows.map(() => new Map());
    x.forEach((column, place) => text[place] && this.rows[y[place]].set(column, [matrix.steps[z[place] - 1], text[place]]));
    this.space = made("div", { class: "virtual-space", role: "presentation" });
    this.space.style.width = `${SIDE + matrix.columns.length * COLUMN + MARGIN}px`;
    this.space.style.height = `${HEAD + matrix.rows.length * ROW + FOOT}px`;
    // Where the rows stand, so that the foot comes after them.
    this.body = made("div", { role: "presentation" });
    this.body.style.height = `${matrix.rows.length * ROW}px`;
    root.append(this.space);
    root.setAttribute("aria-rowcount", matrix.rows.length + 2);
    root.setAttribute("aria-colcount", matrix.columns.length + 2);
    let waiting = false;
    root.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => ((waiting = false), this.draw()));
    });
    root.addEventListener("click", (event) => this.click(event, open));
    root.addEventListener("keydown", (event) => this.key(event));
  }

  // What is in sight, and the cell that the keyboard is on, wherever it is.
  draw() {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.root;
    if (!clientHeight) return;
    const top = Math.max(0, Math.floor(scrollTop / ROW) - AROUND);
    const left = Math.max(0, Math.floor(scrollLeft / COLUMN) - AROUND);
    const bottom = Math.min(this.matrix.rows.length, Math.ceil((scrollTop + clientHeight) / ROW) + AROUND);
    const right = Math.min(this.matrix.columns.length, Math.ceil((scrollLeft + clientWidth) / COLUMN) + AROUND);
    const held = this.root.contains(document.activeElement) && document.activeElement !== this.root;
    const rows = [];
    for (let row = top; row < bottom; row += 1) rows.push(this.row(row, left, right));
    if (this.current[0] < top || this.current[0] >= bottom) rows.push(this.row(this.current[0], left, right));
    this.space.replaceChildren(this.head(left, right), this.body, this.foot(left, right), ...rows);
    if (held) this.link(this.current)?.focus({ preventScroll: true });
  }

  head(left, right) {
    const heads = [];
    for (let column = left; column < right; column += 1) {
      const name = this.matrix.columns[column];
      const on = this.selected?.[1] === column ? " on" : "";
      const head = made("div", { class: `virtual-column${on}`, role: "columnheader", "aria-colindex": column + 2, title: name }, made("span", {}, short(name, 23)));
      heads.push(placed(head, SIDE + column * COLUMN, null));
    }
    const corner = made("div", { class: "virtual-corner", role: "columnheader", "aria-colindex": 1 }, "expected ↓ called →");
    const margin = made("div", { class: "virtual-margin", role: "columnheader", "aria-colindex": this.matrix.columns.length + 2 }, "n, recall %, 95 %");
    return made("div", { class: "virtual-head", role: "row", "aria-rowindex": 1 }, corner, ...heads, margin);
  }

  // Precision of each column with its interval, in sight wherever one has scrolled to.
  foot(left, right) {
    const cells = [];
    for (let column = left; column < right; column += 1) {
      const cell = made("div", { class: "virtual-precision", role: "gridcell", "aria-colindex": column + 2 }, this.margin("columns", column));
      cells.push(placed(cell, SIDE + column * COLUMN, null));
    }
    const name = made("div", { class: "virtual-row-name", role: "rowheader", "aria-colindex": 1 }, "n, precision %, 95 %");
    return made("div", { class: "virtual-foot", role: "row", "aria-rowindex": this.matrix.rows.length + 2 }, name, ...cells);
  }

  // A rate with its interval, which leads to the cases of the row or column.
  margin(side, place) {
    const [count, rate, interval] = this.matrix.margins[side][place];
    const words = `${side === "rows" ? "recall" : "precision"} ${rate} %, ${interval}`;
    const link = made("a", { href: casesOf(this.matrix, side, place), title: words, tabindex: -1 }, made("span", {}, count), made("b", {}, rate), made("i", {}, interval));
    link.append(made("span", { class: "visually-hidden" }, ` ${this.matrix[side][place]}, ${words}`));
    return link;
  }

  row(row, left, right) {
    const name = this.matrix.rows[row];
    const on = this.selected?.[0] === row ? " on" : "";
    const cells = [made("div", { class: `virtual-row-name${on}`, role: "rowheader", "aria-colindex": 1, title: name }, short(name, 28))];
    for (const [column, cell] of this.rows[row]) {
      const current = row === this.current[0] && column === this.current[1];
      if ((column >= left && column < right) || current) cells.push(this.cell(row, column, cell, current));
    }
    const margin = made("div", { class: "virtual-margin", role: "gridcell", "aria-colindex": this.matrix.columns.length + 2 }, this.margin("rows", row));
    cells.push(margin);
    return placed(made("div", { class: "virtual-row", role: "row", "aria-rowindex": row + 2 }, ...cells), null, HEAD + row * ROW);
  }

  cell(row, column, [step, text], current) {
    const chosen = this.selected?.[0] === row && this.selected?.[1] === column;
    const words = made("span", { class: "visually-hidden" }, ` expected ${this.matrix.rows[row]}, called ${this.matrix.columns[column]}`);
    const link = made("a", { href: this.address(row, column), "data-cell": `${row},${column}`, tabindex: current ? 0 : -1 }, text, words);
    if (chosen) link.setAttribute("aria-current", "true");
    const cell = made("div", { class: `virtual-cell ${step}${chosen ? " sel" : ""}`, role: "gridcell", "aria-colindex": column + 2 }, link);
    return placed(cell, SIDE + column * COLUMN, null);
  }

  address(row, column) {
    const parameters = new URLSearchParams(this.matrix.query);
    parameters.set("expected", this.matrix.rows[row]);
    parameters.set("actual", this.matrix.columns[column]);
    return `?${parameters}`;
  }

  link([row, column]) {
    return this.root.querySelector(`[data-cell="${row},${column}"]`);
  }

  click(event, open) {
    const link = event.target.closest("[data-cell]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.current = link.dataset.cell.split(",").map(Number);
    // A click without a pointer is Enter: it goes on into the cases.
    open(this.current, { focusCases: event.detail === 0 });
  }

  key(event) {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = nearest(this.matrix.cells, this.current, step);
    if (next) this.focus(next);
  }

  focus(cell) {
    this.current = cell;
    this.reveal(cell);
    this.draw();
    this.link(cell)?.focus({ preventScroll: true });
  }

  reveal([row, column]) {
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = this.root;
    const [x, y] = [column * COLUMN, row * ROW];
    if (x < scrollLeft || x > scrollLeft + clientWidth - SIDE - MARGIN - COLUMN) this.root.scrollLeft = x - (clientWidth - SIDE) / 2;
    if (y < scrollTop || y > scrollTop + clientHeight - HEAD - FOOT - ROW) this.root.scrollTop = y - (clientHeight - HEAD) / 2;
  }

  // `sight`: how far it is scrolled down and sideways; else so far that the cell is seen.
  select(cell, sight = null) {
    this.selected = cell;
    if (cell) {
      this.current = cell;
      this.reveal(cell);
    }
    if (sight) [this.root.scrollTop, this.root.scrollLeft] = sight;
    this.draw();
  }
}
