"""Two reviewers and an adjudicator at work at once, by keyboard, in real browsers on the running application."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.keyboard import choose_tool, heading, submit
from tests.browser.labelling_shop import EXAMPLES, SEED_ONE, alone, app, label_return, say_none
from tests.fixtures.application import LiveApp

__all__ = ["alone", "app"]
pytestmark = [pytest.mark.browser, pytest.mark.servers]

GOLD = """
import json
from labeling.models import Revision
from labeling.adjudicate.resolution import settle_due
from toolevals.workspace.clock import database_now
from datetime import timedelta
settle_due(database_now() + timedelta(minutes=5))
rows = Revision.objects.select_related("gold", "example").order_by("id")
print(json.dumps({r.example.external_id: r.gold and [r.gold.source, r.gold.expectation] for r in rows}))
"""
# The time to change a label has passed.
COMPARED = """
from labeling.adjudicate.resolution import settle_due
from toolevals.workspace.clock import database_now
from datetime import timedelta
settle_due(database_now() + timedelta(minutes=5))
"""
LABELS = """
import json
from labeling.models import Label
print(json.dumps(sorted([l.revision.example.external_id, l.reviewer.name] for l in Label.objects.in_force())))
"""


@pytest.mark.once
def test_three_people_at_once(person: Callable[[str], Page], app: LiveApp, axe: Callable[[Page], list[str]]):
    ann, ben = person("Ann"), person("Ben")
    for page in (ann, ben):
        page.goto(f"{app.url}/p/shop/label/")
    # In turns, so that both hold an example at any moment.
    for number in range(EXAMPLES):
        label_return(ann, "original payment")
        if number == 1:
            say_none(ben)
        else:
            label_return(ben, "store credit" if number == 2 else "original payment")
        if number == 0:
            assert axe(ann) == []
        submit(ann)
        submit(ben)
    assert heading(ann) == heading(ben) == "Nothing to label"
    labels = json.loads(app.python(LABELS))
    assert labels == [[f"ex-{number}", name] for number in range(EXAMPLES) for name in ("Ann", "Ben")]

    app.python(COMPARED)
    ada = person("Ada")
    ada.goto(f"{app.url}/p/shop/adjudicate/")
    assert axe(ada) == []
    for _ in range(2):
        before = heading(ada)
        left = ada.locator(".side").first.inner_text()
        ada.keyboard.press("ArrowLeft" if "original payment" in left else "ArrowRight")
        expect(ada.locator("[data-tally]")).to_have_text("1 of 1 decided")
        ada.keyboard.press("r")
        ada.keyboard.type("The customer said so.")
        ada.keyboard.press("Control+Enter")
        expect(ada.get_by_role("heading", level=1)).not_to_have_text(before)
    assert heading(ada) == "Nothing to adjudicate"

    gold = json.loads(app.python(GOLD))
    assert [gold[f"ex-{number}"][0] for number in range(EXAMPLES)] == ["agreed", "adjudicated", "adjudicated"] + [
        "agreed"
    ] * 3
    calls = [gold[f"ex-{number}"][1]["alternatives"][0]["ordered"][0] for number in range(EXAMPLES)]
    assert {call["arguments"]["refund_to"]["exact"] for call in calls} == {"original payment"}


def test_problems_stand_beside_their_fields(alone: Page):
    choose_tool(alone, "return")
    alone.keyboard.press("Control+Enter")
    expect(alone.locator("[data-remaining]")).to_have_text("3 fields to finish")
    expect(alone.locator("[name='c1.v/order_id']")).to_be_focused()
    expect(alone.locator("[data-error='c1/order_id']")).to_contain_text("Enter a value")
    alone.keyboard.type("A-1")
    alone.keyboard.press("Tab")
    expect(alone.locator("[data-error='c1/order_id']")).to_be_hidden()
    expect(alone.locator("[data-remaining]")).to_have_text("2 fields to finish")
    # With another tool nothing was left empty yet; what fits it stays.
    for words in ("state of one", "return"):
        alone.keyboard.press("Escape")
        choose_tool(alone, words)
    expect(alone.locator("[name='c1.v/order_id']")).to_have_value("A-1")
    expect(alone.locator("[data-remaining]")).to_have_text("2 fields to finish")
    expect(alone.locator("#panel [data-error]:visible")).to_have_count(0)


def test_json_and_back_by_keyboard(alone: Page):
    label_return(alone, "store credit")
    alone.keyboard.press("Escape")
    alone.keyboard.press("j")
    expect(alone.locator("#json")).to_be_focused()
    assert "store credit" in alone.locator("#json").input_value()
    alone.keyboard.press("Escape")
    alone.keyboard.press("j")
    expect(alone.get_by_label("store credit")).to_be_checked()


EXPECTED = """
import json
from labeling.models import Label
print(json.dumps(Label.objects.order_by("-id")[0].expectation))
"""


def test_several_calls_by_keyboard(alone: Page, app: LiveApp, axe: Callable[[Page], list[str]]):
    """Two calls in order, the second in a group, and one that must not be."""
    choose_tool(alone, "state of one")
    alone.keyboard.type("A-1")
    add_call(alone, "+", "return", "A-2")
    alone.keyboard.press("Tab")
    alone.keyboard.press("Tab")
    alone.keyboard.type("LIN")
    alone.keyboard.press("Enter")
    alone.keyboard.press("Tab")
    alone.keyboard.press("Tab")
    alone.keyboard.press("Space")
    add_call(alone, "i", "state of one", "A-3")
    add_call(alone, "d", "return", "")
    expect(alone.locator(".outline-call")).to_have_count(4)
    assert axe(alone) == []
    alone.keyboard.press("Escape")
    alone.keyboard.press("h")
    expect(alone.locator(".outline-call.is-open")).to_contain_text("A-3")
    expect(alone.locator("#panel [data-value]").first).to_be_focused()
    alone.keyboard.press("Escape")
    alone.keyboard.press("Shift+ArrowUp")
    expect(alone.locator(".outline-call").nth(1)).to_contain_text("A-3")
    submit(alone)
    (route,) = json.loads(app.python(EXPECTED))["alternatives"]
    first, group = route["ordered"]
    assert first["arguments"] == {"order_id": {"exact": "A-1"}}
    assert [call["arguments"]["order_id"] for call in group["any_order"]] == [{"exact": "A-3"}, {"exact": "A-2"}]
    assert route["disallowed"] == [{"tool": "create_return"}]


def add_call(page: Page, key: str, words: str, order: str) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press(key)
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    expect(page.locator("#panel [data-value]").first).to_be_focused()
    page.keyboard.type(order)


def test_keys_wait_for_a_pane_that_is_on_its_way(alone: Page):
    """A draft that is saved meanwhile fetches no pane again, and a key for the old pane acts on the new one."""
    choose_tool(alone, "return")
    alone.keyboard.type("A-1")
    alone.keyboard.press("Escape")
    on_their_way: list[Route] = []

    def hold(route: Route) -> None:
        on_their_way.append(route)

    alone.route("**/panel/**", hold)
    with alone.expect_response("**/draft/**"):
        alone.keyboard.press("/")
        alone.keyboard.type("state of one")
        alone.keyboard.press("Enter")
    alone.keyboard.press("Escape")
    alone.keyboard.press("d")
    for each in on_their_way:
        each.continue_()
    alone.unroute("**/panel/**")
    expect(alone.locator("#find")).to_be_focused()
    expect(alone.locator(".outline-call")).to_have_count(2)


def test_the_sheet_lists_the_keys_and_switches_them_off(alone: Page):
    alone.keyboard.press("?")
    expect(alone.locator("dialog#keys")).to_be_visible()
    alone.locator("[data-single-keys]").uncheck()
    alone.keyboard.press("Escape")
    expect(alone.locator("dialog#keys")).to_be_hidden()
    alone.keyboard.press("g")
    expect(alone.locator("#guide")).to_be_hidden()
    alone.get_by_role("link", name="Guidelines").click()
    expect(alone.locator("#guide")).to_be_visible()
    assert alone.url.endswith("?guide=1")


PAGES = (
    "label/",
    "adjudicate/?list",
    "datasets/",
    "datasets/core/",
    "datasets/core/settings/",
    "datasets/core/import/",
    "datasets/core/versions/",
    "registries/",
    "registries/tools/",
    "registries/tools/1/",
)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_are_accessible(
    person: Callable[[str], Page], app: LiveApp, axe: Callable[[Page], list[str]], width: int, theme: str
):
    app.python(SEED_ONE)
    ada = person("Ada")
    ada.set_viewport_size({"width": width, "height": 800})
    ada.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for path in PAGES:
        ada.goto(f"{app.url}/p/shop/{path}")
        expect(ada.get_by_role("heading", level=1)).to_be_visible()
        if path == "label/":
            choose_tool(ada, "return")
            beyond = "document.documentElement.scrollHeight - scrollY - main.getBoundingClientRect().bottom"
            assert ada.evaluate(beyond) == pytest.approx(0, abs=1)
            # A tap on a tool goes to its form.
            ada.locator(".tool-row", has_text="get_order").click()
            expect(ada.locator("#args-h")).to_have_text("get_order")
            expect(ada.locator("#args-h")).to_be_in_viewport()
        assert axe(ada) == [], path
        sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert ada.evaluate(sideways) == 0, path
