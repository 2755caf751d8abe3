"""From the agreement of reviewers to the examples behind it, by keyboard and pointer, on the running application."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.conftest import WAIT
from tests.browser.labelling_shop import SEED
from tests.browser.pictures import expect_pictures
from tests.browser.steady import box_of
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

# Two of six examples got no call from Ben; both are decided.
LABELLED = """
from labeling.models import Dataset, Revision
from labeling.adjudicate.services import adjudication_decide
from labeling.label.services import label_submit
from labeling.adjudicate.resolution import settle_due
from labeling.label.claims import slot_claim
from tests.labeling_pages.shop import returned
from toolevals.workspace.models import User
from datetime import timedelta
from toolevals.workspace.clock import database_now

dataset = Dataset.objects.get()
people = {name: User.objects.get(name=name) for name in ("Ann", "Ben", "Ada")}
for name in ("Ann", "Ben"):
    while slot := slot_claim(dataset_or_project=dataset, actor=people[name]):
        differs = name == "Ben" and slot.revision.example.external_id in ("ex-1", "ex-2")
        said = {"kind": "no_call", "why": "greeting"} if differs else returned()
        label_submit(slot=slot, actor=people[name], expectation=said)
settle_due(database_now() + timedelta(minutes=5))
for revision in Revision.objects.filter(resolution="disagreed"):
    adjudication_decide(revision=revision, actor=people["Ada"], expectation=returned(), rationale="So.")
"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    started.python(LABELLED)
    return started


@pytest.fixture
def agreement(browser: Browser, signed_in: Callable[[str], StorageState], app: LiveApp) -> Iterator[Page]:
    """The agreement page as a reviewer sees it on a wide screen. No script may fail on it."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, storage_state=signed_in("Ann"))
    context.set_default_timeout(WAIT)
    expect.set_options(timeout=WAIT)
    errors: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{app.url}/p/shop/datasets/core/agreement/")
    expect(page.get_by_role("heading", name="66.7 % of 6 decided examples got the same tool")).to_be_visible()
    expect(page.locator("#heat .heatmaplayer image")).to_be_visible()
    yield page
    expect.set_options(timeout=5_000)
    context.close()
    assert errors == []


def expect_cases(page: Page) -> None:
    expect(page.get_by_role("heading", name="One said create_return, another (none)")).to_be_visible()
    expect(page.locator("tbody th a")).to_have_text(["ex-2", "ex-1"])


def test_a_cell_of_the_heat_map_opens_by_keyboard(agreement: Page):
    agreement.locator("[data-show-other]").focus()
    agreement.keyboard.press("Tab")
    expect(agreement.locator("#heat")).to_be_focused()
    # The ring that arrows move: it is seen before they do.
    expect(agreement.locator("#heat .shapelayer path")).to_have_count(1)
    agreement.keyboard.press("ArrowRight")
    agreement.keyboard.press("Enter")
    expect_cases(agreement)


def test_a_cell_of_the_heat_map_opens_by_pointer(agreement: Page):
    box = box_of(agreement.locator("#heat .nsewdrag"))
    right, top = box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.25
    agreement.mouse.move(right - 20, top)
    agreement.mouse.move(right, top, steps=5)
    expect(agreement.locator(".hoverlayer .hovertext")).to_contain_text("one said create_return")
    agreement.mouse.down()
    agreement.mouse.up()
    expect_cases(agreement)


def test_the_table_holds_the_same_under_arrows(agreement: Page):
    agreement.keyboard.press("t")
    expect(agreement.locator("table.heat")).to_be_visible()
    cells = agreement.locator("table.heat [data-cell]")
    expect(cells).to_have_text(["4", "2", "2"])
    cells.first.focus()
    agreement.keyboard.press("ArrowRight")
    expect(agreement.locator('[data-cell="0,1"]')).to_be_focused()
    agreement.keyboard.press("Enter")
    expect(agreement).to_have_url(re.compile(r"one=create_return&two=%28none%29"))
    expect_cases(agreement)


def test_charts_of_labelling_are_saved_as_pictures(agreement: Page, app: LiveApp):
    expect_pictures(agreement.locator("[aria-labelledby=matrix-h]").first, "agreement-matrix")
    agreement.goto(f"{app.url}/p/shop/datasets/core/coverage/")
    expect(agreement.locator("#heat .heatmaplayer image")).to_be_visible()
    expect_pictures(agreement.locator("[aria-labelledby=map-h]"), "coverage")
