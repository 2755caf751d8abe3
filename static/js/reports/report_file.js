// The script of a run's HTML file. It stands in that file itself, which opens without a server: it imports nothing.
(() => {
  /** @param {string} id */
  const at = (id) => {
    const found = document.getElementById(id);
    if (!found) throw new Error(`no element ${id}`);
    return found;
  };
  const held = JSON.parse(at("held").textContent || "");
  const list = at("list");
  const more = at("more");
  const shown = at("shown");
  const AT_ONCE = 50;
  /** @type {any[]} */
  let chosen = [];
  let drawn = 0;

  // All text of cases comes in here, as text.
  /** @param {string} name @param {string} [text] @param {string} [kind] */
  const make = (name, text = "", kind = "") => {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };

  // Texts that are not short stand once in the file, and are named by their place.
  /** @param {string | number} text */
  const said = (text) => (typeof text === "number" ? held.texts[text] : text);

  /** @param {string} name @param {string | number} text */
  const written = (name, text) => {
    const element = make(name, said(text));
    element.dir = "auto";
    return element;
  };

  /** @param {HTMLElement} within @param {string} title @param {(string | number)[][]} turns */
  const addTurns = (within, title, turns) => {
    within.append(make("h4", title));
    if (!turns.length) within.append(make("p", "Nothing.", "soft"));
    for (const [who, text] of turns) {
      const turn = make("div", "", "turn");
      turn.append(written("p", who), written("pre", text));
      within.append(turn);
    }
  };

  /** @param {HTMLElement} within @param {string} title @param {string[]} heads @param {(string | number | null)[][]} rows */
  const addTable = (within, title, heads, rows) => {
    within.append(make("h4", title));
    if (!rows.length) {
      within.append(make("p", "Nothing.", "soft"));
      return;
    }
    const box = make("div", "", "wide");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", title);
    const table = make("table");
    const head = make("tr");
    for (const name of heads) {
      const cell = make("th", name);
      cell.setAttribute("scope", "col");
      head.append(cell);
    }
    table.append(make("thead"), make("tbody"));
    table.children[0].append(head);
    for (const row of rows) {
      const line = make("tr");
      for (const value of row) line.append(value === null ? make("td", "–", "soft") : written("td", value));
      table.children[1].append(line);
    }
    box.append(table);
    within.append(box);
  };

  /** @param {any} each */
  const bodyOf = (each) => {
    const body = make("div", "", "body");
    body.append(make("p", `${each.title}.`));
    if (each.cut) body.append(make("p", "Long texts of this case are cut, so that the file stays small.", "soft"));
    if (held.base) {
      const link = /** @type {HTMLAnchorElement} */ (make("a", "This case on the server"));
      link.href = `${held.base}cases/${each.id}/${held.query}`;
      body.append(link);
    }
    const earlier = each.earlier ? `Conversation, without the first ${each.earlier} parts` : "Conversation";
    addTurns(body, earlier, each.given);
    addTurns(body, "What the agent did", each.done);
    addTable(body, "Expected and actual", ["Where", "Expected", "Actual", "Difference"],
      each.rows.map((/** @type {any[]} */ row) => [row[0], row[1], row[2], row[4] || row[3]]));
    addTable(body, "Verdicts", ["Layer", "Verdict", "Reason"], each.verdicts);
    return body;
  };

  /** @param {any} each */
  const lineOf = (each) => {
    const line = make("li");
    const details = /** @type {HTMLDetailsElement} */ (make("details"));
    details.id = `case-${each.id}`;
    const summary = make("summary");
    summary.append(make("b", each.outcome, each.outcome), " ", written("bdi", each.name), each.trial > 1 ? ` trial ${each.trial}` : "");
    if (each.expected) summary.append(": ", written("bdi", each.expected), " → ", written("bdi", each.actual));
    details.append(summary);
    details.addEventListener("toggle", () => details.open && details.children.length < 2 && details.append(bodyOf(each)));
    line.append(details);
    return line;
  };

  const drawMore = () => {
    for (const each of chosen.slice(drawn, drawn + AT_ONCE)) list.append(lineOf(each));
    drawn = Math.min(chosen.length, drawn + AT_ONCE);
    more.hidden = drawn === chosen.length;
  };

  /** @param {any[]} cases @param {string} words */
  const show = (cases, words) => {
    chosen = cases;
    drawn = 0;
    list.replaceChildren();
    shown.textContent = words;
    drawMore();
  };

  /** @param {Element} cell @param {string} expected @param {string} actual */
  const showCell = (cell, expected, actual) => {
    const cases = held.cases.filter((/** @type {any} */ each) => each.expected === expected && each.actual === actual);
    const count = cell.textContent || "";
    show(cases, `Expected ${expected}, called ${actual}: ${cases.length} of ${count.trim()} cases are in this file.`);
    if (!held.base) return;
    const link = /** @type {HTMLAnchorElement} */ (make("a", "This cell on the server"));
    const query = new URLSearchParams(held.query);
    query.set("expected", expected);
    query.set("actual", actual);
    link.href = `${held.base}matrix/?${query}`;
    shown.append(" ", link);
  };

  // The address says what is shown: a cell, a case, the cases that did not pass, or all.
  const follow = () => {
    const asked = location.hash.slice(1);
    const cell = /^cell-(\d+)-(\d+)$/.exec(asked);
    const element = cell && document.querySelector(`a[href="#${asked}"]`);
    if (cell && element) {
      showCell(element, held.rows[Number(cell[1])], held.columns[Number(cell[2])]);
    } else if (asked.startsWith("case-")) {
      show(held.cases.filter((/** @type {any} */ each) => `case-${each.id}` === asked), "One case.");
      const only = list.querySelector("details");
      if (only) only.open = true;
      else shown.textContent = "This file does not hold that case.";
    } else if (asked === "wrong") {
      const wrong = held.cases.filter((/** @type {any} */ each) => each.outcome === "failed" || each.outcome === "errored");
      show(wrong, `${wrong.length} failed or errored cases in this file.`);
    } else {
      show(held.cases, `${held.cases.length} cases in this file.`);
      if (asked !== "all") return;
    }
    at("cases").scrollIntoView();
  };

  more.addEventListener("click", drawMore);
  window.addEventListener("hashchange", follow);
  follow();
})();
