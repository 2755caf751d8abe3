"""A run's HTML file in a browser that reaches no server: from a cell to its cases to a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.labelling_shop import SEED
from tests.browser.modes import SIDEWAYS
from tests.fixtures.application import LiveApp
from tests.reports.strangers_texts import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.servers]
WRITTEN = """
from reports.compare.queries import two_runs
from reports.report_file.document import report_file
from tests.reports.building import Builder, Case
from tests.reports.strangers_texts import HOSTILE, write_texts
from toolevals.runs.models import Run
from toolevals.workspace.models import Project

project = Project.objects.get()
build = Builder(project)
wrong, right = Case("get_order", "refund"), Case("get_order", "get_order")
before = build.grading([wrong] * 40 + [right] * 30)
after = build.again(before, [[right]] * 30 + [[wrong]] * 10 + [[right]] * 29 + [[wrong]])
write_texts(after, HOSTILE)
runs = two_runs(Run.objects.all(), before.run.number, after.run.number)
print(report_file(after, runs=runs, host="https://evals.example"))
"""


@pytest.fixture(scope="module")
def file(live_app_start: Callable[..., LiveApp], tmp_path_factory: pytest.TempPathFactory) -> Path:
    app = live_app_start()
    app.python(SEED)
    path: Path = tmp_path_factory.mktemp("report") / "run.html"
    path.write_text(app.python(WRITTEN))
    return path


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Page]:
    """The file in a browser without a network; anything that it asks for or complains about fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on(
        "request", lambda request: said.append(request.url) if request.url.partition("#")[0] != file.as_uri() else None
    )
    page.goto(file.as_uri())
    yield page
    context.close()
    assert said == []


def test_a_cell_opens_its_cases_and_a_case_its_conversation(opened: Page) -> None:
    cell = opened.get_by_role("region", name="Confusion matrix").get_by_role("link", name="11", exact=True)
    cell.click()
    expect(opened.locator("#shown")).to_contain_text(
        "Expected get_order, called refund: 11 of 11 cases are in this file."
    )
    cases = opened.locator("#list details")
    expect(cases).to_have_count(11)
    cases.first.locator("summary").click()
    texts = cases.first.locator("pre").all_text_contents()
    assert texts.count(HOSTILE) >= 3
    link = cases.first.get_by_role("link", name="This case on the server")
    expect(link).to_have_attribute("href", re.compile("^https://evals.example/"))
    assert opened.locator("a[href^='javascript'], img").count() == 0
    opened.go_back()
    expect(opened.locator("#shown")).to_have_text("70 cases in this file.")
    expect(cases).to_have_count(50)
    opened.get_by_role("button", name="Show more cases").click()
    expect(cases).to_have_count(70)


def test_a_broken_example_opens_its_case(opened: Page) -> None:
    opened.get_by_role("heading", name="Examples broken: 1").locator("+ p").get_by_role("link").click()
    expect(opened.locator("#shown")).to_have_text("One case.")
    expect(opened.locator("#list details[open] h4").first).to_have_text("Conversation")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_is_accessible_with_a_case_open(opened: Page, axe: Any, scheme: Any) -> None:
    opened.emulate_media(color_scheme=scheme)
    opened.get_by_role("link", name="Failed or errored").click()
    opened.locator("#list summary").first.click()
    for width in (360, 1440):
        opened.set_viewport_size({"width": width, "height": 900})
        assert opened.evaluate(SIDEWAYS) <= 0
        assert axe(opened) == []
