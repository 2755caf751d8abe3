"""Measures labelling by keyboard: keys and seconds an example, wrong tools, lost labels, on the sample's forty places.

A practised person at headless Chromium labels what the sample leaves to label, with a server next to it, and again with
each answer 200 ms later. They press the next key at once: the seconds are the system's, and none are for reading. A
step of their plan is a key as Playwright names it, `*3` after it for three times, or `type:TEXT`, which is typed. Each
label is handed in by Ctrl and Enter.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.row import Row
from scripts.dev.chromium import on_path
from tests.fixtures.browser import QUIET
from tests.servers.delaying import DelayingProxy
from tests.servers.process import free_port
from toolevals.sample import content
from toolevals.serving.application import Application

# The sample's people who have something left to label, and how many places.
LABELLED_BY: Final = {"omar@shop.example": 26, "lena@shop.example": 14}
# Why no call is right is chosen by arrows, and so is a value of the conversation that fits.
PLAN: Final[dict[str, str]] = {
    "ex-0154": "2 ArrowDown Enter*3 ArrowDown*2",
    "ex-0155": "7 ArrowDown Enter type:v",
    "ex-0156": "6 Escape m type:anyt Enter type:k Tab Space Enter*3 type:L Enter Tab Space Enter Space Tab Space",
    "ex-0157": "4 Enter ArrowDown",
    "ex-0158": "0 ArrowDown*3",
    "ex-0159": "5 Escape m type:anyt Enter type:w Tab Space",
    "ex-0160": "0 Space",
    "ex-0161": "1 ArrowDown",
    "ex-0162": "/ type:ret Enter ArrowDown Tab*2 Enter ArrowDown Enter 1 Enter ArrowDown*2 Enter Space",
    "ex-0163": "1 ArrowDown",
    "ex-0164": "0 ArrowDown",
    "ex-0165": "3 ArrowDown",
    "ex-0166": "3 ArrowDown",
    "ex-0167": "3 ArrowDown",
    "ex-0168": "0 Space",
    "ex-0169": "/ type:ret Enter ArrowDown Tab*2 Enter ArrowDown Enter 1 Enter Space Enter Space",
    "ex-0170": "4 ArrowDown",
    "ex-0171": "3 ArrowDown",
    "ex-0172": "2 ArrowDown Enter type:2026-01-01",
    "ex-0173": "1 ArrowDown",
    "ex-0174": "6 type:trousers Escape m type:c",
    "ex-0175": "0 ArrowDown*2",
    "ex-0176": "0 ArrowDown*3",
    "ex-0177": "5 type:points Escape m type:c",
    "ex-0178": "6 Escape m type:anyt Enter type:k Enter type:45 Enter*2 type:XL",
    "ex-0179": "1 ArrowDown",
}
# Milliseconds: a machine may be busy.
PATIENCE = 30_000
TYPE = "type:"
REPEATED = re.compile(r"(?P<key>.+)\*(?P<times>\d+)")
SLUG = "shop-support"
LATE = 0.2
# The median when a person was first measured so.
KEYS = 9
LABELS = """
SELECT e.external_id, u.email, l.expectation FROM labeling_label l
JOIN labeling_revision r ON r.id = l.revision_id JOIN labeling_example e ON e.id = r.example_id
JOIN workspace_user u ON u.id = l.reviewer_id ORDER BY l.id
"""


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    given = {"tool": tool, "arguments": arguments, "additional_arguments": False}
    return {"kind": "calls", "alternatives": [{"ordered": [given], "additional_calls": False}]}


def _none(why: str) -> dict[str, Any]:
    return {"kind": "no_call", "why": why}


def _exactly(**values: Any) -> dict[str, Any]:
    return {name: {"exact": value} for name, value in values.items()}


def _return(order_id: str, **item: Any) -> dict[str, Any]:
    items = {"items": [{"fields": _exactly(**item)}]}
    return _call("create_return", **_exactly(order_id=order_id), items=items, refund_to={"exact": "original_payment"})


# What no one has labelled before, or what the form says in another way than Lena's label.
MEANT: Final[dict[str, dict[str, Any]]] = {
    "ex-0162": _return("A-20418", sku="LIN-SH-M-NVY", quantity=1, condition="damaged"),
    "ex-0166": _call("get_shipping_eta", **_exactly(order_id="A-20281")),
    "ex-0167": _call("get_shipping_eta", **_exactly(order_id="A-20557")),
    "ex-0168": _none("greeting"),
    "ex-0169": _return("A-20481", sku="LIN-SH-L-NVY", quantity=1, condition="unworn"),
    "ex-0170": _call("get_customer", **_exactly(customer_id="C-6038")),
    "ex-0171": _call("get_shipping_eta", **_exactly(order_id="A-20771")),
    "ex-0172": _call("get_order_history", customer_id={"exact": "C-1216"}, **{"from": {"exact": "2026-01-01"}}),
    "ex-0173": _call("get_order_status", **_exactly(order_id="A-20318")),
    "ex-0174": _call("search_products", query={"contains": "trousers"}),
    "ex-0175": _none("in-model fact"),
    "ex-0176": _none("refusal"),
    "ex-0177": _call("search_kb", query={"contains": "points"}),
    "ex-0178": _call(
        "search_products", query={"key_only": True}, **_exactly(category="knitwear", max_price=45, sizes=["XL"])
    ),
    "ex-0179": _call("get_order_status", **_exactly(order_id="A-20188")),
}


@dataclass
class Worked:
    """The cost of labelling: keys and seconds of each example, and the examples that were handed in, in their order."""

    keys: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)


class Person:
    """Labels what they are handed on a page that is open, as a plan says."""

    def __init__(self, page: Page, plan: Mapping[str, str]) -> None:
        self.page = page
        self.plan = plan
        self.pressed = 0
        self.worked = Worked()

    def work(self) -> Worked:
        """Label until nothing is left. Raises KeyError at an example without a plan."""
        while (example := self.example()) is not None:
            self._label(example)
        return self.worked

    def example(self) -> str | None:
        """Return which example is on the page, None where nothing is left to label."""
        main = self.page.locator("#main")
        return main.locator("h1 .mono").inner_text() if main.get_attribute("data-slot") else None

    def _label(self, example: str) -> None:
        """Enter a label and hand it in. The seconds end when the next example is there: they are all the system's."""
        self.pressed, began = 0, time.perf_counter()
        slot = self.page.locator("#main").get_attribute("data-slot") or ""
        for step in shlex.split(self.plan[example]):
            self._do(step)
        self._press("Control+Enter")
        expect(self.page.locator(f'#main[data-slot="{slot}"]')).to_have_count(0, timeout=PATIENCE)
        self.worked.seconds.append(time.perf_counter() - began)
        self.worked.keys.append(self.pressed)
        self.worked.examples.append(example)

    def _do(self, step: str) -> None:
        if step.startswith(TYPE):
            for character in step.removeprefix(TYPE):
                self._press(character)
        else:
            found = REPEATED.fullmatch(step)
            for _ in range(int(found["times"]) if found else 1):
                self._press(found["key"] if found else step)

    def _press(self, key: str) -> None:
        """Press a key, or several held together: both are one."""
        self.page.keyboard.press(key)
        self.pressed += 1


@dataclass(frozen=True, slots=True)
class Line:
    """One line to the server: what it is called, how much later answers come, and the targets in seconds."""

    name: str
    seconds: float
    median: float
    p95: float


LINES = (Line("local", 0, 0.5, 1), Line("200 ms late", LATE, 1, 2))


def rows() -> Iterator[Row]:
    """Measure with a local line, then with a slow one. Raises where there is no Chromium."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        prepared = Path(folder) / "prepared"
        logins = json.loads(_application(prepared).prepare(sample=True))
        for line in LINES:
            data = Path(folder) / line.name.replace(" ", "-")
            shutil.copytree(prepared, data)
            yield from _rows(line, data, {login["email"]: login["password"] for login in logins})


def _application(data: Path) -> Application:
    # Without a worker: the sample's runs would take the processor.
    own = {"REDIS_URL": "", "DATABASE_URL": ""}
    return Application(python=sys.executable, data=data, port=free_port(), environment=own)


def _rows(line: Line, data: Path, passwords: Mapping[str, str]) -> Iterator[Row]:
    before = len(_labels(data))
    with _application(data) as server:
        server.web_start()
        with DelayingProxy(server.port, line.seconds) as proxy:
            worked = _worked(proxy.url if line.seconds else server.url, passwords)
    given = _labels(data)[before:]
    count = len(worked.examples)
    if count != sum(LABELLED_BY.values()):
        raise RuntimeError(f"{count} places were handed out, and not those that the sample leaves")

    def row(name: str, value: float, unit: str, target: float | None = None) -> Row:
        return Row(f"{line.name}: {name}", value, unit, target=target, better="lower")

    yield row(f"keys an example, median of {count}", median(worked.keys), "keys", KEYS)
    yield row("keys an example, p95", _p95(worked.keys), "keys")
    yield row("seconds an example, median", median(worked.seconds), "s", line.median)
    yield row("seconds an example, p95", _p95(worked.seconds), "s", line.p95)
    yield row("wrong tools", _differing(given, _tools), "labels", 0)
    yield row("labels other than meant", _differing(given, dict), "labels", 0)
    yield row("labels lost", count - len(given), "labels", 0)


def _worked(url: str, passwords: Mapping[str, str]) -> Worked:
    worked = Worked()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=on_path(), args=QUIET)
        for email in LABELLED_BY:
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            context.set_default_timeout(30_000)
            page = context.new_page()
            _sign_in(page, url, email, passwords[email])
            one = Person(page, PLAN).work()
            worked.keys += one.keys
            worked.seconds += one.seconds
            worked.examples += one.examples
            context.close()
        browser.close()
    return worked


def _sign_in(page: Page, url: str, email: str, password: str) -> None:
    page.goto(f"{url}/sign-in/?next=/p/{SLUG}/label/")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/p/{SLUG}/label/**")
    expect(page.locator(".tool-row").first).to_be_visible()
    page.wait_for_load_state()


def _labels(data: Path) -> list[tuple[str, str, Any]]:
    """Return example, person and expectation of each label, the first first."""
    with sqlite3.connect(data / "toolevals.sqlite3") as database:
        return [(name, email, json.loads(text)) for name, email, text in database.execute(LABELS)]


def _meant(example: str) -> Any:
    """Return what the person means: what the plan says, or what Lena said of the example before."""
    return MEANT[example] if example in MEANT else content.labels("lena")[example].expectation


def _differing(given: Sequence[tuple[str, str, Any]], of: Any) -> int:
    return sum(of(label) != of(_meant(example)) for example, _, label in given)


def _tools(expectation: Any) -> list[str]:
    return [call["tool"] for one in expectation.get("alternatives", ()) for call in one["ordered"]]


def _p95(found: Sequence[float]) -> float:
    return quantiles(found, n=20)[-1]
