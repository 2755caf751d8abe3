// The names of a heat map that is larger than its frame: they stay in sight beside rows and columns, every one of them.
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
export const plain = (text) => text.replace(/&(lt|gt|amp);/g, (entity) => ENTITIES[entity]);

const made = (kind, className, parent) => {
  const element = Object.assign(document.createElement(kind), { className });
  parent.append(element);
  return element;
};

const DIVIDER = " · "; // between a class and what divides it
const LETTER = 0.61; // of its size is how wide a letter is
const AROUND = 18;

// A name as long as there is room, cut in its middle: names of one service differ at their ends. What divides its class
// stays whole, since parts of a class differ in that alone.
export const short = (label, longest) => {
  if (label.length <= longest) return label;
  const at = label.lastIndexOf(DIVIDER);
  const end = at > 0 && label.length - at - DIVIDER.length <= longest / 2 ? label.length - at : 0;
  const room = Math.max(longest - 1 - end, 2);
  const head = Math.floor(room / 3);
  return `${label.slice(0, head)}…${label.slice(label.length - end - (room - head))}`;
};

// Pixels that the longest of some labels takes.
const room = (labels, size) => Math.max(...labels.map((label) => label.length), 8) * size * LETTER + AROUND;

export class Names {
  // `inner` is as large as the chart, `element` the chart in it.
  constructor(inner, element, matrix) {
    this.element = element;
    this.matrix = matrix;
    this.head = made("div", "heat-names heat-head", inner);
    this.side = made("div", "heat-names heat-side", inner);
    this.corner = made("div", "heat-names heat-corner", inner);
    for (const each of [this.head, this.side, this.corner]) each.setAttribute("aria-hidden", "true");
    inner.append(element);
  }

  // How much room they take of a frame that is so wide; what they say is taken from the layout's axes.
  fit(layout, size, wide) {
    this.labels = { rows: layout.yaxis.ticktext.map(plain), columns: layout.xaxis.ticktext.map(plain) };
    this.size = size;
    this.width = Math.ceil(Math.min(room(this.labels.rows, size), wide * 0.45));
    this.height = Math.ceil(room(this.labels.columns, size));
    const letters = Math.floor((this.width - AROUND) / (size * LETTER));
    this.labels.rows = this.labels.rows.map((label) => short(label, letters));
    this.said = (layout.annotations[0]?.text || "").split("<br>").map(plain);
  }

  clear() {
    this.width = this.height = 0;
    for (const each of [this.head, this.side, this.corner]) each.replaceChildren();
  }

  // Beside a chart that was just drawn.
  draw() {
    this.clearThenGround();
    const { xaxis, yaxis } = this.element._fullLayout;
    const { offsetLeft, offsetTop } = this.element;
    this.matrix.rows.forEach((name, place) => {
      const at = yaxis.l2p(place);
      if (at < 0 || at > yaxis._length) return;
      const shown = this.name(this.side, name, this.labels.rows[place]);
      shown.style.top = `${offsetTop + yaxis._offset + at - 7}px`;
      shown.style.width = `${offsetLeft + this.width - 8}px`;
    });
    this.matrix.columns.forEach((name, place) => {
      const at = xaxis.l2p(place);
      if (at < 0 || at > xaxis._length) return;
      const shown = this.name(this.head, name, this.labels.columns[place]);
      shown.style.left = `${offsetLeft + xaxis._offset + at - 7}px`;
      shown.style.height = `${offsetTop + this.height - 6}px`;
    });
  }

  clearThenGround() {
    const { width, height, element } = this;
    this.clear();
    Object.assign(this, { width, height });
    const grounds = [
      [this.head, element.offsetLeft + element.offsetWidth, element.offsetTop + height],
      [this.side, element.offsetLeft + width, element.offsetTop + element.offsetHeight],
      [this.corner, element.offsetLeft + width, element.offsetTop + height],
    ];
    for (const [parent, wide, high] of grounds) {
      const ground = made("div", "heat-ground", parent);
      Object.assign(ground.style, { width: `${wide}px`, height: `${high}px` });
    }
    for (const text of this.said) made("span", "", this.corner.firstChild).textContent = text;
  }

  name(parent, title, label) {
    const shown = Object.assign(made("span", "", parent), { title, textContent: label });
    shown.style.fontSize = `${this.size}px`;
    return shown;
  }
}
