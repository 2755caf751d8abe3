// The matrix as a table: one tab stop, arrows move over the cells that hold something.
import { nearest } from "./heat.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const place = (link) => link.dataset.cell.split(",").map(Number);

export class Grid {
  constructor(root, open) {
    this.root = root;
    this.links = [...root.querySelectorAll("[data-cell]")];
    this.byPlace = new Map(this.links.map((link) => [link.dataset.cell, link]));
    const current = root.querySelector('[data-cell][aria-current="true"]') || this.links[0];
    for (const link of this.links) link.tabIndex = link === current ? 0 : -1;
    root.addEventListener("click", (event) => this.click(event, open));
    root.addEventListener("keydown", (event) => this.key(event));
  }

  click(event, open) {
    const link = event.target.closest("[data-cell]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    // A click without a pointer is Enter: it goes on into the cases.
    open(place(link), { focusCases: event.detail === 0 });
  }

  key(event) {
    const link = event.target.closest("[data-cell]");
    const step = STEPS[event.key];
    if (!link || !step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = nearest(this.links.map(place), place(link), step);
    if (next) this.focus(next);
  }

  focus(cell) {
    const link = this.byPlace.get(cell.join());
    if (!link) return;
    for (const each of this.links) each.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
  }

  select(cell) {
    for (const link of this.links) {
      const chosen = cell !== null && link.dataset.cell === cell.join();
      link.toggleAttribute("aria-current", false);
      if (chosen) link.setAttribute("aria-current", "true");
      link.closest("td").classList.toggle("sel", chosen && link.closest(".heat") !== null);
      link.closest("tr").classList.toggle("is-on", chosen && link.closest(".confusions") !== null);
    }
    for (const head of this.root.querySelectorAll("[data-row], [data-column]")) {
      const { row, column } = head.dataset;
      head.classList.toggle("on", cell !== null && (row ? Number(row) === cell[0] : Number(column) === cell[1]));
    }
  }
}
