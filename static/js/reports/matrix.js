// The matrix page: heat map and table over the same data, one selected cell, its pane, its keys.
import { onEscape, onKeys } from "./acts.js";
import { filled } from "./cells.js";
import { saving } from "./chart.js";
import { submitOnChange } from "./filters.js";
import { Grid } from "./grid.js";
import { Heat } from "./heat.js";
import { Pane } from "./pane.js";
import { keepPlace, leftCase, takeUp } from "./places.js";
import { VirtualGrid } from "./virtual.js";

const root = document.documentElement;
const form = document.querySelector("[data-filters]");
const source = document.getElementById("matrix-data");
submitOnChange(form);

onKeys({
  x: () => {
    const menu = document.querySelector("[data-csv]");
    menu.open = !menu.open;
    if (menu.open) menu.querySelector("a").focus();
  },
});

const inSight = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top < innerHeight && bottom > 0;
};

const keep = (name, value) => {
  let field = form.elements[name];
  if (!field) {
    field = Object.assign(document.createElement("input"), { type: "hidden", name });
    form.append(field);
  }
  field.value = value;
};

const start = (matrix) => {
  const element = document.getElementById("heat");
  const place = () => {
    const asked = new URLSearchParams(location.search);
    const [expected, actual] = asked.has("expected") ? [asked.get("expected"), asked.get("actual")] : matrix.first;
    const cell = [matrix.rows.indexOf(expected), matrix.columns.indexOf(actual)];
    return cell.includes(-1) ? null : cell;
  };
  const mark = () => {
    const cell = place();
    heat?.select(cell);
    for (const each of grids) each.select(cell);
    const asked = new URLSearchParams(location.search);
    for (const name of ["expected", "actual"]) keep(name, asked.get(name) || "");
  };
  const pane = new Pane(matrix, mark);
  const open = (cell, options) => pane.show(pane.query(cell), options);
  const heat = element && globalThis.Plotly ? new Heat(element, matrix, open) : null;
  const table = document.querySelector("[data-table]");
  const large = document.querySelector("[data-virtual]");
  const grids = [];
  const kept = keepPlace(() => ({ sight: large && [large.scrollTop, large.scrollLeft], ranges: heat?.ranges }));
  if (heat && kept?.ranges) heat.ranges = kept.ranges;
  if (large) grids.push(new VirtualGrid(large, matrix, open));
  if (table) grids.push(new Grid(table, open));
  heat?.select(place());

  const showing = () => root.dataset.matrixShow;
  const show = (kind) => {
    root.dataset.matrixShow = kind;
    try {
      localStorage.setItem("matrix-show", kind);
    } catch {
      // not kept, but shown
    }
    const asked = new URLSearchParams(location.search);
    asked.set("show", kind);
    matrix.query = withShow(matrix.query, kind);
    keep("show", kind);
    history.replaceState(null, "", `?${asked}`);
    if (kind === "heat") heat?.draw();
    else for (const each of grids) each.select(place());
  };
  const withShow = (query, kind) => {
    const parameters = new URLSearchParams(query);
    parameters.set("show", kind);
    return parameters.toString();
  };
  const switchShow = () => show(showing() === "heat" && table ? "table" : "heat");
  if (showing() === "heat" && heat) heat.draw();
  else root.dataset.matrixShow = "table";
  if (large) grids[0].select(place(), kept?.sight);

  const focusCell = () => {
    const cell = place();
    if (showing() === "heat") element.focus({ preventScroll: inSight(element) });
    else if (cell) grids[0]?.focus(cell);
  };
  const stepConfusion = (by) => () => {
    const cell = place();
    const at = matrix.confusions.findIndex((each) => cell && each[0] === cell[0] && each[1] === cell[1]);
    const next = matrix.confusions[at < 0 ? 0 : at + by];
    if (!next) return false;
    open(next).then(focusCell);
    return true;
  };

  document.querySelector("[data-show-other]").addEventListener("click", switchShow);
  document.querySelector("[data-reset]").addEventListener("click", () => heat?.reset());
  saving({ heat });
  onKeys({ n: stepConfusion(1), p: stepConfusion(-1), j: () => pane.step(1), k: () => pane.step(-1) });
  onEscape(() => pane.element.contains(document.activeElement) && focusCell());
  // Back from a case: to its line. Out of it by Escape: to the cell that it was opened from.
  const isOut = leftCase() && !kept?.returns;
  if (!takeUp(isOut && kept ? { ...kept, focus: "" } : kept) && leftCase() && place()) focusCell();
};

if (source) start(filled(JSON.parse(source.textContent)));
