// The cells of a large matrix come as columns of numbers: the chart's places, steps and words are put together here.
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
// Names are foreign text, and Plotly reads tags.
const escaped = (text) => text.replace(/[&<>]/g, (character) => ENTITIES[character]);
const thousands = (count) => count.toLocaleString("en-US");

const hover = (matrix, place) => {
  const [row, column] = matrix.cells[place];
  const called = matrix.columns[column];
  const lines = [
    `expected ${matrix.rows[row]}`,
    called === matrix.none ? "made no call" : `called ${called}`,
    `${thousands(matrix.counts[place])} of ${thousands(matrix.row_totals[row])}, ${matrix.row_percent[place]} % of the row`,
    `${matrix.column_percent[place]} % of the column`,
  ];
  if (matrix.costs[place]) lines.push(matrix.costs[place]);
  return lines.map(escaped).join("<br>");
};

// Every row and column of the chart must hold something: the width of the others depends on it.
const blanks = (matrix) => {
  const rows = new Set(matrix.cells.map(([row]) => row));
  const columns = new Set(matrix.cells.map(([, column]) => column));
  return [
    ...[...matrix.rows.keys()].filter((row) => !rows.has(row)).map((row) => [row, 0]),
    ...[...matrix.columns.keys()].filter((column) => !columns.has(column)).map((column) => [0, column]),
  ];
};

// Fill the chart's one trace, and give the confusions their places.
export const filled = (matrix) => {
  const all = [...matrix.cells, ...blanks(matrix)];
  Object.assign(matrix.chart.data[0], {
    x: all.map(([, column]) => column),
    y: all.map(([row]) => row),
    z: all.map((_, place) => matrix.heat[place] ?? null),
    text: all.map((_, place) => matrix.text[place] ?? ""),
    hovertext: all.map((_, place) => (place < matrix.cells.length ? hover(matrix, place) : "")),
  });
  matrix.confusions = matrix.confusions.map((place) => matrix.cells[place]);
  return matrix;
};
