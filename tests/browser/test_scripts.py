"""The modules that hold state work by themselves: drafts, the outbox, values put in, the large matrix."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from scripts.dev.environment import ROOT

pytestmark = pytest.mark.browser

STATIC = ROOT / "static" / "js"
HOST = "http://scripts.test"
# What every page of a person has: the modules ask for it.
HEAD = """<!doctype html><title>x</title><body data-person="p1" data-session-url="/session/">
<dialog data-session></dialog><p data-saved hidden></p><p data-outbox hidden></p>"""
PAGE = f"""{HEAD}<main id="main" data-slot="s1" data-draft-url="/draft/s1/" data-title="One">
<form data-work action="/submit/s1/"><input name="note"><input name="seconds" value="1"></form></main></body>"""
COLOURS = '<option value=""></option><option value="red">Red</option><option value="blue">Blue</option>'
PANEL = f"""{HEAD}<main id="main"><div id="panel">
<div data-path="/n" data-takes="integer"><span class="name">count</span>
<input id="n" name="c1.v/n" data-value><span data-from></span></div>
<div data-path="/t" data-takes="string"><span class="name">text</span>
<input id="t" name="c1.v/t" data-value><span data-from></span></div>
<div data-path="/o"><span class="name">colour</span>
<select id="o" name="c1.v/o" data-value>{COLOURS}</select><span data-from></span></div></div></main></body>"""


class Server:
    """Answers what the scripts of a page ask: files of the project, and posts that are taken, refused or lost."""

    def __init__(self) -> None:
        self.html = PAGE
        self.posts: list[tuple[str, dict[str, str]]] = []
        # How posts are answered: a status with a body, or None where the connection is lost.
        self.answer: tuple[int, str] | None = (200, json.dumps({"saved_at": "2026-01-01T10:00:00Z", "problems": []}))

    def handle(self, route: Route, request: Request) -> None:
        """Answer one request."""
        path = request.url.removeprefix(HOST)
        if path.startswith("/js/"):
            route.fulfill(body=(STATIC / path.removeprefix("/js/")).read_text(), content_type="text/javascript")
        elif request.method == "POST":
            self.posts.append((path, dict(parse_qsl(request.post_data or ""))))
            self.reply(route, request)
        elif path == "/session/":
            route.fulfill(json={"person": "p1"})
        else:
            route.fulfill(body=self.html, content_type="text/html")

    def reply(self, route: Route, request: Request) -> None:
        """Answer a post as it is set."""
        if self.answer is None:
            route.abort("connectionrefused")
            return
        status, body = self.answer
        kind = "application/json" if body.startswith("{") else "text/html"
        route.fulfill(
            status=status, body=body, content_type=kind, headers={"X-Accepted": request.headers["x-submission"]}
        )


@pytest.fixture(scope="module")
def shared(browser: Browser) -> Iterator[tuple[Page, Server]]:
    """One page for all cases of this file, whose clock stands still."""
    server = Server()
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    context.set_default_timeout(15_000)
    context.route(f"{HOST}/**", server.handle)
    page = context.new_page()
    page.clock.install(time=0)
    yield page, server
    context.close()


@pytest.fixture
def scripts(shared: tuple[Page, Server]) -> Iterator[tuple[Page, Server]]:
    """The page, anew: nothing is stored, and the server takes what it gets."""
    page, server = shared
    server.__init__()  # type: ignore[misc]
    errors: list[str] = []

    def note(error: Any) -> None:
        errors.append(str(error))

    page.on("pageerror", note)
    page.goto(f"{HOST}/")
    page.evaluate("localStorage.clear()")
    page.goto(f"{HOST}/")
    yield shared
    page.remove_listener("pageerror", note)
    assert errors == []


def load(page: Page, module: str) -> None:
    """Load a module as `module` of the page."""
    page.evaluate(f"async () => {{ window.module = await import('/js/{module}.js'); }}")


def stored(page: Page) -> dict[str, Any]:
    """Return what the page keeps in the browser."""
    found: dict[str, str] = page.evaluate("({ ...localStorage })")
    return {key: json.loads(value) for key, value in found.items()}


def test_storage_falls_back_to_the_page_where_the_browser_refuses(scripts: tuple[Page, Server]) -> None:
    page, _ = scripts
    load(page, "labeling/storage")
    found = page.evaluate(
        """() => {
          const { write, read, keysOf, remove, isOnlyHere } = module;
          const result = [write("draft:p1:a", 1), read("draft:p1:a"), read("draft:p1:none"), isOnlyHere()];
          const set = Storage.prototype.setItem;
          Storage.prototype.setItem = () => { throw new Error("full"); };
          result.push(write("draft:p1:b", 2), write("draft:p2:c", 3), read("draft:p1:b"));
          result.push(keysOf("draft", "p1").sort(), isOnlyHere());
          Storage.prototype.setItem = set;
          remove("draft:p1:b"); remove("draft:p2:c");
          return [...result, keysOf("draft", "p1"), isOnlyHere()];
        }"""
    )
    keys = ["draft:p1:a", "draft:p1:b"]
    assert found == [True, 1, None, False, False, False, 2, keys, True, ["draft:p1:a"], False]


def test_what_two_prefixes_of_one_host_keep_is_kept_apart(scripts: tuple[Page, Server]) -> None:
    page, _ = scripts
    load(page, "labeling/storage")
    found = page.evaluate(
        """() => {
          const { write, keyOf, keysOf } = module;
          const prefixes = ["", "/evals", "/evals2"];
          const below = (prefix, work) => ((document.body.dataset.prefix = prefix), work());
          for (const prefix of prefixes) below(prefix, () => write(keyOf("draft", "p1", "a"), 1));
          return prefixes.map((prefix) => below(prefix, () => keysOf("draft", "p1")));
        }"""
    )
    assert found == [["draft:p1:a"], ["draft:p1/evals:a"], ["draft:p1/evals2:a"]]


def test_a_token_is_that_of_the_prefix(scripts: tuple[Page, Server]) -> None:
    page, _ = scripts
    load(page, "session")
    names = ["csrftoken", "csrftoken~evals", "csrftoken~a.b"]
    page.context.add_cookies([{"name": name, "value": f"of {name}", "url": HOST} for name in names])
    found = [page.evaluate("name => (document.body.dataset.csrfCookie = name, module.token())", name) for name in names]
    page.context.clear_cookies()
    assert found == [f"of {name}" for name in names]


def test_a_broken_entry_reads_as_nothing(scripts: tuple[Page, Server]) -> None:
    page, _ = scripts
    load(page, "labeling/storage")
    assert page.evaluate("localStorage.setItem('draft:p1:a', '{'), module.read('draft:p1:a')") is None


def test_a_draft_is_kept_at_once_and_sent_a_moment_later(scripts: tuple[Page, Server]) -> None:
    page, server = scripts
    load(page, "labeling/drafts")
    page.evaluate("document.querySelector('[name=note]').value = 'x', module.changed()")
    assert stored(page)["draft:p1:s1"]["fields"][0] == ["note", "x"]
    assert server.posts == []
    expect(page.locator("[data-saved]")).to_have_text("Not saved yet")
    page.clock.run_for(700)
    expect(page.locator("[data-saved]")).to_contain_text("Draft saved")
    assert server.posts == [("/draft/s1/", {"note": "x", "seconds": "1"})]
    assert stored(page) == {}


def test_a_draft_that_cannot_be_sent_is_kept_and_tried_again(scripts: tuple[Page, Server]) -> None:
    page, server = scripts
    load(page, "labeling/drafts")
    taken, server.answer = server.answer, None
    page.evaluate("document.querySelector('[name=note]').value = 'x', module.changed()")
    page.clock.run_for(700)
    expect(page.locator("[data-saved]")).to_contain_text("Server not reached: kept in this browser")
    assert "draft:p1:s1" in stored(page)
    server.answer = taken
    page.clock.run_for(3_000)
    expect(page.locator("[data-saved]")).to_contain_text("Draft saved")
    assert stored(page) == {}


def test_what_is_handed_in_waits_until_it_is_acknowledged(scripts: tuple[Page, Server]) -> None:
    page, server = scripts
    server.answer = None
    load(page, "labeling/outbox")
    page.evaluate("module.submit('/submit/s1/', [['note', 'x']])")
    expect(page.locator("[data-saved]")).to_contain_text("1 label waits in this browser")
    entry = stored(page)["outbox:p1:s1"]
    assert (entry["url"], entry["fields"]) == ("/submit/s1/", [["note", "x"]])
    # Taken, for an example that is no longer the one on the page: it goes, and the page says so.
    server.answer = (200, "<p>taken</p>")
    page.evaluate("document.getElementById('main').dataset.slot = 's2', dispatchEvent(new Event('online'))")
    expect(page.locator("[data-saved]")).to_have_text("Sent 1 label that waited")
    assert stored(page) == {}
    assert [path for path, _ in server.posts].count("/submit/s1/") == 2


def test_the_oldest_is_sent_first(scripts: tuple[Page, Server]) -> None:
    page, server = scripts
    server.answer = (200, "<p>taken</p>")
    entries = {"b": 1, "a": 2, "c": 3}
    for slot, at in entries.items():
        entry = {"id": slot * 32, "url": f"/submit/{slot}/", "fields": [], "slot": slot, "at": at}
        page.evaluate("([key, value]) => localStorage.setItem(key, value)", [f"outbox:p1:{slot}", json.dumps(entry)])
    load(page, "labeling/outbox")
    expect(page.locator("[data-saved]")).to_have_text("Sent 3 labels that waited")
    assert [path for path, _ in server.posts] == ["/submit/b/", "/submit/a/", "/submit/c/"]


def test_what_is_refused_becomes_a_draft(scripts: tuple[Page, Server]) -> None:
    page, server = scripts
    server.answer = (422, json.dumps({"problems": [{"field": "note", "message": "is missing"}]}))
    load(page, "labeling/outbox")
    page.evaluate("module.submit('/submit/s1/', [['note', '']])")
    expect(page.locator("[data-saved]")).not_to_have_text("Sending")
    assert "outbox:p1:s1" not in stored(page)
    assert "draft:p1:s1" in stored(page)


@pytest.mark.parametrize(
    ("field", "said", "value", "words"),
    [
        ("n", "$1,250.00", "1250", "from “$1,250.00”, the order"),
        ("n", "A-17", "", "“A-17” is not a whole number. Nothing was changed"),
        ("t", "A-17", "A-17", "from “A-17”, the order"),
        ("o", "blue", "blue", "from “blue”, the order"),
        ("o", "green", "", "“green” is not an option of colour. Nothing was changed"),
    ],
)
def test_a_value_of_the_conversation_fits_or_says_why_not(
    scripts: tuple[Page, Server], field: str, said: str, value: str, words: str
) -> None:
    page, server = scripts
    server.html = PANEL
    page.goto(f"{HOST}/")
    load(page, "labeling/picks")
    page.evaluate("([id, said]) => module.send(said, 'the order', document.getElementById(id))", [field, said])
    expect(page.locator(f"#{field}")).to_have_value(value)
    expect(page.locator(f"#{field} + [data-from]")).to_have_text(words)
    expect(page.locator(f"#{field}")).to_be_focused()


GRID = """() => {
  const size = 300, names = [...Array(size).keys()].map((each) => `tool_${each}`);
  const cells = names.map((_, each) => [each, each]);
  const margin = () => names.map(() => ["5", "80", "60–90"]);
  const margins = { rows: margin(), columns: margin() };
  const places = [...names.keys()];
  const data = [{ x: places, y: places, z: places.map(() => 1), text: places.map(() => "5") }];
  const drawn = { steps: ["e1"], chart: { data }, query: "view=first", urls: {}, cases: "/cases/" };
  const matrix = { rows: names, columns: names, cells, margins, ...drawn };
  const root = document.createElement("div");
  root.style.cssText = "overflow: auto; width: 800px; height: 500px; position: relative";
  root.tabIndex = 0;
  document.body.replaceChildren(root);
  window.opened = [];
  window.grid = new module.VirtualGrid(root, matrix, (cell) => opened.push(cell));
  grid.draw();
}"""


def test_a_large_matrix_holds_only_the_cells_in_sight(scripts: tuple[Page, Server]) -> None:
    page, _ = scripts
    load(page, "reports/virtual")
    page.evaluate(GRID)
    rows = page.locator(".virtual-row")
    assert 10 < rows.count() < 40
    expect(page.locator("[data-cell='0,0']")).to_have_attribute("tabindex", "0")
    page.evaluate("grid.select([200, 200])")
    expect(page.locator("[data-cell='200,200']")).to_have_attribute("aria-current", "true")
    assert 10 < rows.count() < 40
    expect(page.locator("[data-cell='0,0']")).to_have_count(0)


def test_keys_move_over_a_large_matrix_and_a_click_opens_a_cell(scripts: tuple[Page, Server]) -> None:
    page, _ = scripts
    load(page, "reports/virtual")
    page.evaluate(GRID)
    page.evaluate("grid.focus([0, 0])")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert page.evaluate("grid.current") == [3, 3]
    expect(page.locator("[data-cell='3,3']")).to_be_focused()
    page.evaluate("document.activeElement.click()")
    assert page.evaluate("opened") == [[3, 3]]


def test_names_are_offered_after_an_at_and_chosen_by_keys(scripts: tuple[Page, Server]) -> None:
    page, server = scripts
    page.set_content(f'{HEAD}<textarea id="note" data-mentions="{HOST}/names/"></textarea></body>')
    names = "".join(
        f'<li role="option" id="n{number}" data-name="{name}" aria-selected="{str(not number).lower()}">{name}</li>'
        for number, name in enumerate(("Ann Example", "Ann Other"))
    )
    server.html = f'<ul role="listbox" id="mention-names">{names}</ul>'
    load(page, "mentions")
    area, options = page.locator("#note"), page.locator("#mention-names li")
    area.press_sequentially("me@mail see @an")
    expect(options).to_have_count(2)
    area.press("ArrowDown")
    expect(area).to_have_attribute("aria-activedescendant", "n1")
    area.press("Enter")
    expect(area).to_have_value("me@mail see @Ann Other ")
    expect(options).to_have_count(0)
    area.press_sequentially("@a")
    expect(options).to_have_count(2)
    area.press("Escape")
    expect(options).to_have_count(0)
    area.press_sequentially("n")
    options.first.click()
    expect(area).to_have_value("me@mail see @Ann Other @Ann Example ")
