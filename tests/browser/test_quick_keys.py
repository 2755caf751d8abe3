"""Keys pressed as fast as a practised person does, before what they are for is there: each does what it is for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.keyboard import choose_tool, heading
from tests.browser.labelling_shop import alone, app
from tests.fixtures.application import LiveApp

__all__ = ["alone", "app"]
pytestmark = [pytest.mark.browser, pytest.mark.servers]

NEWEST = """
import json
from labeling.models import Label
print(json.dumps(Label.objects.order_by("-id")[0].expectation))
"""


@contextmanager
def pane_held(page: Page) -> Iterator[None]:
    """Keep the pane on its way while keys are pressed."""
    on_their_way: list[Route] = []

    def hold(route: Route) -> None:
        on_their_way.append(route)

    page.route("**/panel/**", hold)
    yield
    for each in on_their_way:
        each.continue_()
    page.unroute("**/panel/**")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def arguments_of(app: LiveApp) -> dict[str, object]:
    """Return the arguments of the newest label's only call."""
    (route,) = json.loads(app.python(NEWEST))["alternatives"]
    (call,) = route["ordered"]
    return dict(call["arguments"])


def test_arrows_are_for_the_pane_that_comes_and_choose_no_other_tool(alone: Page):
    with pane_held(alone):
        press(alone, "0", "ArrowDown", "ArrowDown")
        expect(alone.locator("input[name=tool][value=none]")).to_be_checked()
    expect(alone.locator("#panel input[name=why]").nth(2)).to_be_checked()
    expect(alone.locator("input[name=tool][value=none]")).to_be_checked()


def test_letters_keep_their_order_when_the_pane_comes_between_them(alone: Page):
    with pane_held(alone):
        press(alone, "/", *"state", "Enter", "A", "-")
    # In one turn with what was held: the pane's field has the focus and the first letters are not yet in it.
    press(alone, "1", "2", "3", "4")
    expect(alone.locator("[name='c1.v/order_id']")).to_have_value("A-1234")


def test_what_a_pane_brings_is_handed_in_with_it(alone: Page, app: LiveApp):
    choose_tool(alone, "state of one")
    before = heading(alone)
    press(alone, "Escape", "m")
    with pane_held(alone):
        press(alone, *"anyt", "Control+Enter")
        expect(alone.get_by_role("heading", level=1)).to_have_text(before)
    expect(alone.get_by_role("heading", level=1)).not_to_have_text(before)
    assert arguments_of(app) == {"order_id": {"key_only": True}}


def test_a_button_that_is_reached_before_the_pane_is_there_is_pressed(alone: Page):
    """And what follows is for what the button brings, such as a number for a field, which is no tool's number."""
    with pane_held(alone):
        press(alone, "2", "Escape", "+", "1")
    expect(alone.locator(".outline-call")).to_have_count(2)
    expect(alone.locator("#find")).to_have_value("1")


def test_what_is_typed_and_no_chip_yet_is_handed_in(alone: Page, app: LiveApp):
    choose_tool(alone, "return")
    before = heading(alone)
    press(alone, "ArrowDown", "Enter", *"LIN-1", "Enter", *"LIN-2")
    alone.locator("[name='c1.v/refund_to']").first.focus()
    press(alone, "Space")
    alone.locator("input[id][name='c1.v/skus']").focus()
    press(alone, *"LIN-3", "Control+Enter")
    expect(alone.get_by_role("heading", level=1)).not_to_have_text(before)
    assert arguments_of(app)["skus"] == {"exact": ["LIN-1", "LIN-2", "LIN-3"]}


def test_the_arrow_down_puts_in_what_fits_and_nothing_in_the_place_of_what_was_typed(alone: Page):
    choose_tool(alone, "return")
    order = alone.locator("[name='c1.v/order_id']")
    press(alone, "ArrowDown")
    # Of what was said last.
    expect(order).to_have_value("Thursday")
    press(alone, "ArrowDown")
    expect(order).not_to_have_value("Thursday")
    press(alone, "ArrowUp")
    expect(order).to_have_value("Thursday")
    expect(alone.locator("[data-path='c1/order_id'] [data-from]")).to_contain_text("turn")
    order.fill("A-9")
    press(alone, "ArrowDown")
    expect(order).to_have_value("A-9")


def test_enter_goes_on_from_a_choice_and_past_a_matcher(alone: Page):
    choose_tool(alone, "return")
    press(alone, "Enter", "Enter")
    expect(alone.locator("[name='c1.v/refund_to']").first).to_be_focused()
    press(alone, "Enter")
    expect(alone.locator("[name='c1.v/refund_to']:focus")).to_have_count(0)
    alone.locator("#panel select.matcher").first.focus()
    with pane_held(alone):
        press(alone, *"anyt", "Enter", *"LIN")
    expect(alone.locator("input[id][name='c1.v/skus']")).to_have_value("LIN")


def test_what_an_optional_argument_may_be_is_asked_at_once(alone: Page):
    choose_tool(alone, "return")
    row = alone.locator("[data-path]:has(.left-out)").first
    expect(row.locator(".left-out")).to_be_hidden()
    row.locator("[data-value]").first.fill("2026-03-12")
    expect(row.locator(".left-out")).to_be_visible()
