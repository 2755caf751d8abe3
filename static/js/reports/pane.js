// The pane that reads one cell: fetched on its own and swapped in, with its address in the bar.
export class Pane {
  // `onMoved` is called as soon as the address names another cell, before its pane is there.
  constructor(matrix, onMoved) {
    this.matrix = matrix;
    this.onMoved = onMoved;
    this.wanted = 0;
    document.addEventListener("click", (event) => this.click(event));
    addEventListener("popstate", () => this.show(location.search, { push: false }));
  }

  get element() {
    return document.getElementById("cell");
  }

  query([row, column]) {
    const parameters = new URLSearchParams(this.matrix.query);
    parameters.set("expected", this.matrix.rows[row]);
    parameters.set("actual", this.matrix.columns[column]);
    return `?${parameters}`;
  }

  // The newest wish wins, however the answers come in. Where the server can't be reached, the page is asked for whole.
  async show(query, { push = true, focusCases = false } = {}) {
    const wish = ++this.wanted;
    if (push) history.pushState(null, "", query || location.pathname);
    this.onMoved();
    let answer;
    try {
      answer = await fetch(`${this.matrix.cell}${query}`, { headers: { Accept: "text/html" } });
    } catch {
      answer = null;
    }
    if (wish !== this.wanted) return;
    if (!answer || !answer.ok || answer.redirected) {
      location.reload();
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (wish !== this.wanted) return;
    this.element.replaceWith(document.adoptNode(page.getElementById("cell")));
    if (focusCases) this.focusCase(0);
    if (matchMedia("(max-width: 1240px)").matches && push) this.element.scrollIntoView({ block: "nearest" });
  }

  click(event) {
    const link = event.target.closest("#cell [data-go], #cell [data-page]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.show(new URL(link.href).search, { focusCases: link.hasAttribute("data-page") });
  }

  cases() {
    return [...this.element.querySelectorAll("[data-case]")];
  }

  focusCase(place) {
    const cases = this.cases();
    const found = cases[Math.max(0, Math.min(place, cases.length - 1))];
    if (found) found.focus();
    return Boolean(found);
  }

  step(by) {
    const at = this.cases().indexOf(document.activeElement);
    return this.focusCase(at < 0 ? 0 : at + by);
  }
}
