"""Plotly draws and answers the pointer under the product's own Content-Security-Policy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from csp.utils import build_policy
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.browser.steady import box_of

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Heat map</title>
<link rel="stylesheet" id="plotly.js-style-global" class="no-inline-styles" href="/static/vendor/plotly/plotly.css">
<script src="/static/vendor/plotly/plotly.min.js"></script><script src="/chart.js" defer></script></head>
<body><div id="chart"></div><p id="events"></p><script>document.title = "inline script ran"</script></body></html>"""
CHART = """
const chart = document.getElementById("chart");
Plotly.newPlot(chart, [{type: "heatmap", x: ["a", "b"], y: ["a", "b"], z: [[9, 1], [2, 7]]}],
               {width: 600, height: 500}, {displaylogo: false}).then(() => {
  for (const name of ["plotly_hover", "plotly_click"])
    chart.on(name, (event) => {
      const {x, y, z} = event.points[0];
      document.getElementById("events").append([name, x, y, z].join(" "), "; ");
    });
  document.body.dataset.drawn = "yes";
});
"""


class Handler(SimpleHTTPRequestHandler):
    """The test page, its script, and the project's static files, all under the policy of the settings."""

    answers: ClassVar = {"/": ("text/html", PAGE), "/chart.js": ("text/javascript", CHART)}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, directory=str(ROOT), **options)

    def do_GET(self) -> None:
        if self.path not in self.answers:
            super().do_GET()
            return
        kind, text = self.answers[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", build_policy())
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


@pytest.fixture(scope="module")
def chart_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def reports(page: Page) -> list[str]:
    """What the browser reports to have refused, as it comes."""
    said: list[str] = []

    def keep(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            said.append(message.text)

    page.on("console", keep)
    return said


@pytest.fixture
def chart(page: Page, chart_url: str, reports: list[str]) -> Page:
    page.goto(chart_url)
    page.wait_for_selector("body[data-drawn]")
    return page


def centre_of_cell(page: Page, column: int, row: int) -> tuple[float, float]:
    """Return where on the page a cell of the two by two heat map is; row 0 is the lowest."""
    box = box_of(page.locator(".heatmaplayer image"))
    return box["x"] + box["width"] * (1 + 2 * column) / 4, box["y"] + box["height"] * (3 - 2 * row) / 4


def test_the_policy_holds(chart: Page, reports: list[str]) -> None:
    assert chart.title() == "Heat map"
    assert any("inline script" in text for text in reports)


def test_hover_and_click_name_the_cell(chart: Page) -> None:
    events = chart.locator("#events")
    chart.mouse.move(*centre_of_cell(chart, 0, 0))
    chart.mouse.move(*centre_of_cell(chart, 1, 0), steps=5)
    expect(events).to_contain_text("plotly_hover b a 1;")
    expect(chart.locator(".hoverlayer .hovertext")).to_be_visible()
    # Plotly clicks what it hovers over, and looks only now and then where the pointer is.
    chart.mouse.move(*centre_of_cell(chart, 0, 1), steps=5)
    expect(events).to_contain_text("plotly_hover a b 2;")
    chart.mouse.down()
    chart.mouse.up()
    expect(events).to_contain_text("plotly_click a b 2;")


def test_the_stylesheet_stands_for_the_rules_that_plotly_may_not_inject(chart: Page) -> None:
    style = "(selector, name) => getComputedStyle(document.querySelector(selector))[name]"
    read = f"([selector, name]) => ({style})(selector, name)"
    assert chart.evaluate(read, [".main-svg", "pointerEvents"]) == "none"
    assert chart.evaluate(read, [".draglayer", "pointerEvents"]) == "all"
    assert chart.evaluate(read, [".heatmaplayer image", "imageRendering"]) == "pixelated"
    assert chart.evaluate(read, [".modebar", "position"]) == "absolute"


def test_what_is_refused_is_only_plotlys_own_styling(chart: Page, reports: list[str]) -> None:
    plotly = [text for text in reports if "inline script" not in text]
    assert all(text.startswith("Applying inline style") for text in plotly), plotly
    assert len(plotly) <= 12
