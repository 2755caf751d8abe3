"""An issue in a browser: from open to fixed to back, with a gate that fails when it is back; wide and narrow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labelling_shop import SEED
from tests.browser.modes import SIDEWAYS
from tests.browser.test_production_loop import SLOW
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]
START = """
from celery import current_app
from tests.runs.building import HISTORY, REFUND, STATUS, call, silence, uploaded_run, version_of
from labeling.models import DatasetVersion
from toolevals.workspace.models import Project

project = Project.objects.get()
found = DatasetVersion.objects.filter(dataset__slug="answers").first()
good = [call("status", STATUS), call("history", HISTORY), call("refund", REFUND), silence("hello")]
bad = [call("status", HISTORY), *good[1:]]
"""
RUN = START + "uploaded_run(project, found or version_of(project, slug='answers'), {rows}, model={model!r})"
WRONG = "get_order_history called in place of get_order_status"


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    started.python(RUN.format(rows="bad", model="v1"))
    return started


def says(page: Page, address: str, words: str) -> None:
    """Wait until an address says something."""
    deadline = time.monotonic() + SLOW / 1000
    while words not in " ".join((said := page.request.get(address).text()).split()):
        assert time.monotonic() < deadline, said
        page.wait_for_timeout(300)


def check(page: Page, app: LiveApp, run: int, status: str) -> None:
    """Check a run by the kept gate, and wait for how that comes out."""
    address = f"{app.url}/p/shop/runs/{run}/gates/"
    page.goto(address)
    page.get_by_role("button", name="Check the run").click()
    says(page, address, f"{status}.</h2>")
    page.goto(address)


def gathered(page: Page, app: LiveApp, run: int, line: str) -> None:
    """Wait until a run is graded and its failures are gathered, and open its page, which says which issues changed."""
    says(page, f"{app.url}/p/shop/runs/{run}/issues/", line)
    page.goto(f"{app.url}/p/shop/runs/{run}/")
    expect(page.locator("details", has=page.get_by_role("heading", name="Issues"))).to_contain_text(line)


def looked_at(page: Page, axe: Any) -> None:
    """Check that a page fits and is accessible, wide and light, narrow and dark."""
    for width, scheme in ((360, "dark"), (1440, "light")):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0
        assert axe(page) == []


def test_an_issue_goes_from_open_to_fixed_to_back(app: LiveApp, person: Callable[[str], Page], axe: Any) -> None:
    page = person("Ada")
    gathered(page, app, 1, "1 new")
    page.locator("summary", has_text="Issues").click()
    looked_at(page, axe)
    page.get_by_role("link", name=WRONG, exact=True).click()
    expect(page.locator("#say")).to_contain_text("In 1 of 4 graded cases")
    page.get_by_label("Name of a new gate").fill("issues")
    looked_at(page, axe)
    page.get_by_role("button", name="Add a gate rule").click()
    expect(page.get_by_role("heading", name="Gate issues")).to_be_visible()
    check(page, app, 1, "failed")
    app.python(RUN.format(rows="good", model="v2"))
    gathered(page, app, 2, "1 gone compared with run 1")
    check(page, app, 2, "passed")
    page.goto(f"{app.url}/p/shop/issues/")
    page.get_by_role("link", name=WRONG, exact=True).click()
    page.get_by_label("Fixed in agent").select_option(label="agent, v2")
    page.get_by_role("button", name="Check the fix").click()
    expect(page.locator("#say")).to_contain_text("Fixed in agent: none in 4 graded cases since, after 1 of 4 before.")
    looked_at(page, axe)
    app.python(RUN.format(rows="bad", model="v3"))
    gathered(page, app, 3, "1 back compared with run 2")
    check(page, app, 3, "failed")
    page.get_by_role("link", name="failed").first.click()
    page.get_by_role("link", name="failed_count").first.click()
    expect(page.get_by_text("holds 1 of the 1 examples with this issue")).to_be_visible()
    expect(page.get_by_role("rowheader", name="status")).to_be_visible()
    looked_at(page, axe)
    # The first page counts what matters a moment after the gate.
    says(page, f"{app.url}/p/shop/", "called in place of")
    page.goto(f"{app.url}/p/shop/")
    page.get_by_role("link", name=WRONG, exact=True).click()
    expect(page.locator("#say")).to_contain_text("Came back: 1 of 8 graded cases since agent")
    expect(page.get_by_text("came back in")).to_be_visible()
    page.get_by_role("link", name="Slice of run 3").click()
    expect(page.get_by_role("row", name="status")).to_have_count(1)
    looked_at(page, axe)
    page.goto(f"{app.url}/p/shop/runs/2/compare/3/")
    expect(page.get_by_text("1 back compared with run 2")).to_be_visible()
    page.goto(f"{app.url}/p/shop/")
    looked_at(page, axe)
