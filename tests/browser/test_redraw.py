"""The pane of arguments is drawn anew on a slow line: what people enter meanwhile stays, and newer states win."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.browser.trip_shop import LATENCIES, SEED, matcher, open_trip, slow, value
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    return started


@pytest.fixture
def trip(person: Callable[[str], Page], app: LiveApp) -> Page:
    """A reviewer in front of a new example, with the pane of a tool of many arguments."""
    page = person("Ann")
    open_trip(page, app)
    return page


@pytest.mark.parametrize("latency", LATENCIES)
def test_what_is_typed_during_a_redraw_stays(trip: Page, latency: int):
    slow(trip, latency)
    day = value(trip, "day")
    element = day.element_handle()
    with trip.expect_response("**/panel/**"):
        matcher(trip, "order").select_option("one_of")
        day.click()
        trip.keyboard.type("2026-01-1", delay=30)
        trip.keyboard.press("ArrowLeft")
    expect(trip.locator("#panel .chips [name='c1.v/order']")).to_be_visible()
    trip.keyboard.type("X")
    trip.keyboard.press("Backspace")
    trip.keyboard.press("End")
    trip.keyboard.type("5")
    expect(day).to_have_value("2026-01-15")
    expect(day).to_be_focused()
    assert day.evaluate("(now, before) => now === before", element)
    trip.keyboard.press("Control+z")
    expect(day).not_to_have_value("2026-01-15")


MOST_TRIES = 200


class Held:
    """Answers about the pane that are held back until they are let through; those asked for afterwards come at once."""

    def __init__(self, page: Page) -> None:
        self.page, self.is_open = page, False
        self.routes: list[Route] = []
        page.route("**/panel/**", self._take)

    def _take(self, route: Route) -> None:
        if self.is_open:
            route.continue_()
        else:
            self.routes.append(route)

    def let_through(self) -> None:
        tries = 0
        while not self.routes and (tries := tries + 1) < MOST_TRIES:
            self.page.wait_for_timeout(50)
        assert self.routes
        self.is_open = True
        for route in self.routes:
            route.continue_()


def test_every_kind_of_control_keeps_what_was_entered_meanwhile(trip: Page):
    """A select, a box, chips, a text whose control becomes another; then the matcher of yet another field."""
    via = value(trip, "via").last
    held = Held(trip)
    matcher(trip, "order").select_option("one_of")
    value(trip, "city").select_option(label="linz")
    trip.locator("#panel .seg label", has_text="second").click()
    via.click()
    trip.keyboard.type("graz")
    trip.keyboard.press("Enter")
    trip.keyboard.type("li")
    matcher(trip, "nights").select_option("range")
    value(trip, "order").fill("A-7")
    trip.keyboard.type("7")
    held.let_through()
    order = trip.locator("#panel .chips input[id][name='c1.v/order']")
    expect(trip.locator("#panel [name='c1.lo/nights']")).to_be_visible()
    expect(order).to_have_value("A-77")
    expect(order).to_be_focused()
    expect(value(trip, "city")).to_have_value('"linz"')
    expect(trip.get_by_label("second")).to_be_checked()
    expect(trip.locator("#panel .chip")).to_have_text(["graz×", "li×"])


def test_a_composed_word_is_not_broken_off(trip: Page):
    line = trip.context.new_cdp_session(trip)
    held = Held(trip)
    matcher(trip, "nights").select_option("range")
    order = value(trip, "order")
    order.click()
    line.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    held.let_through()
    expect(trip.locator("#panel [name='c1.lo/nights']")).to_be_visible()
    line.send("Input.imeSetComposition", {"text": "日本", "selectionStart": 2, "selectionEnd": 2})
    line.send("Input.insertText", {"text": "日本"})
    expect(order).to_have_value("日本")
    expect(order).to_be_focused()


def test_items_of_a_list_come_and_go_while_others_are_filled_in(trip: Page):
    add = trip.get_by_role("button", name="Add an item")
    add.click()
    first = trip.locator("[name='c1.v/guests/0/name']")
    expect(first).to_be_focused()
    held = Held(trip)
    add.press("Enter")
    first.click()
    trip.keyboard.type("Mira Sample")
    held.let_through()
    expect(trip.locator("[name='c1.v/guests/1/name']")).to_be_visible()
    expect(first).to_have_value("Mira Sample")
    expect(first).to_be_focused()
    held = Held(trip)
    trip.get_by_role("button", name="Remove guests 1", exact=True).press("Enter")
    trip.locator("[name='c1.v/guests/1/name']").fill("Otto Sample")
    held.let_through()
    expect(first).to_have_count(0)
    expect(trip.locator("[name='c1.v/guests/1/name']")).to_have_value("Otto Sample")


def test_no_draft_holds_a_field_twice(trip: Page):
    """Neither while the pane is drawn, with the focus in a list, nor afterwards."""
    sent: list[list[str]] = []

    def note(request: Request) -> None:
        if "/draft/" in request.url:
            sent.append(parse_qs(request.post_data or "").get("c1.v/via", []))

    trip.on("request", note)
    via = value(trip, "via").last
    via.fill("linz")
    held = Held(trip)
    matcher(trip, "via").select_option("key_only")
    via.click()
    held.let_through()
    expect(via).to_have_count(0)
    matcher(trip, "via").select_option("exact")
    expect(via).to_be_visible()
    value(trip, "order").fill("A-1")
    with trip.expect_response("**/draft/**"):
        value(trip, "order").press("Tab")
    assert [one for one in sent if len(one) != len(set(one))] == []


def test_a_tool_chosen_later_wins_and_takes_what_is_typed_ahead(trip: Page):
    """The second of two tools wins; what is typed before its pane came is for its first argument."""
    held = Held(trip)
    trip.keyboard.press("Escape")
    trip.locator(".tool-row", has=trip.get_by_text("issue_refund", exact=True)).click()
    trip.locator("#find").press_sequentially("create_return")
    expect(trip.locator("[data-best-tool]")).to_have_text("Enter chooses create_return")
    trip.keyboard.press("Enter")
    trip.keyboard.type("A-1d 0")
    trip.keyboard.press("Backspace")
    trip.keyboard.type("7")
    trip.keyboard.press("Escape")
    held.let_through()
    expect(trip.locator("#args-h .tool")).to_have_text("create_return")
    expect(value(trip, "order")).to_have_value("A-1d 7")
    expect(value(trip, "order")).not_to_be_focused()
    expect(trip.locator("input[name=tool]:checked")).to_have_value("3")


def test_a_sign_in_page_is_no_pane(trip: Page, app: LiveApp):
    away = {"Location": f"{app.url}/sign-in/?next=/"}
    trip.route("**/panel/**", lambda route: route.fulfill(status=302, headers=away))
    value(trip, "order").fill("A-1")
    with trip.expect_response(lambda answer: "/panel/" not in answer.url and answer.request.method == "GET"):
        matcher(trip, "nights").select_option("range")
    expect(trip.locator("[data-saved]")).not_to_be_empty()
    expect(value(trip, "order")).to_have_value("A-1")
    expect(trip.locator("#panel main")).to_have_count(0)


FOUND = {
    "create_return": "create_return",
    "create return": "create_return",
    "CREATE_": "create_return_label",
    "return": "recreate_return",
    "trip": "book_trip",
    "trip state": "getTripState",
    "ecreate": "recreate_return",
    "refund": "issue_refund",
    "money": "issue_refund",
}


def test_the_tool_named_best_is_shown_and_chosen(trip: Page):
    find = trip.locator("#find")
    for text, name in FOUND.items():
        find.fill(text)
        effect = ", destructive" if name == "issue_refund" else ""
        expect(trip.locator("[data-best-tool]")).to_have_text(f"Enter chooses {name}{effect}")
        assert trip.locator(".tool-row:visible .tool").first.inner_text() == name
    find.fill("nothing like it")
    expect(trip.locator("[data-best-tool]")).to_have_text("Enter chooses nothing")
    find.fill("create_return")
    find.press("Enter")
    expect(trip.locator("#args-h .tool")).to_have_text("create_return")
    expect(value(trip, "order")).to_be_focused()
    names = trip.locator(".tools-list > .tool-row .tool").all_inner_texts()
    assert names[:3] == ["(none)", "issue_refund", "recreate_return"]


def pick(page: Page, name: str, said: str) -> None:
    page.locator(f"#panel [data-path='c1/{name}'] [data-value]").last.focus()
    page.locator(".pick", has_text=said).first.click()


def test_a_value_is_said_to_be_from_the_conversation_only_where_it_is(trip: Page):
    def told(name: str) -> Locator:
        return trip.locator(f"#panel [data-path='c1/{name}'] [data-from]")

    for name, said, entered in (
        ("city", "Vienna", '"vienna"'),
        ("nights", "3", "3"),
        ("day", "2026-01-15", "2026-01-15"),
        ("order", "東京", "東京"),
        ("order", "A-77", "A-77"),
    ):
        pick(trip, name, said)
        expect(told(name)).to_have_text(f"from “{said}”, turn 1")
        expect(value(trip, name)).to_have_value(entered)
    expect(trip.locator("#panel [data-path='c1/day'] [data-echo]")).to_have_text("Thursday 15 January")
    pick(trip, "via", "Linz")
    pick(trip, "via", "Linz")
    expect(trip.locator("#panel .chip")).to_have_text(["linz×"])
    expect(told("via")).to_have_text("from “Linz”, turn 1")

    for name, said, words in (
        ("city", "Linz", "from “Linz”, turn 1"),
        ("city", "A-77", "“A-77” is not an option of city. Nothing was changed"),
        ("nights", "A-77", "“A-77” is not a whole number. Nothing was changed"),
        ("quiet", "Vienna", "“Vienna” is not an option of quiet. Nothing was changed"),
        ("via", "Vienna", "“Vienna” is not an option of via. Nothing was changed"),
    ):
        pick(trip, name, said)
        expect(told(name)).to_have_text(words)
    expect(value(trip, "city")).to_have_value('"linz"')
    expect(value(trip, "nights")).to_have_value("3")
    expect(trip.locator("#panel .chip")).to_have_text(["linz×"])
    pick(trip, "nights", "1,250.00")
    expect(value(trip, "nights")).to_have_value("1250")

    # It stays through a redraw, and goes with the first change by hand.
    matcher(trip, "day").select_option("contains")
    expect(trip.locator("#panel [name='c1.fmt/day']")).to_have_count(0)
    expect(told("day")).to_have_text("from “2026-01-15”, turn 1")
    value(trip, "day").press("End")
    trip.keyboard.type("6")
    expect(told("day")).to_have_text("")
    trip.keyboard.press("Backspace")
    expect(told("day")).to_have_text("")
    value(trip, "city").select_option(label="graz")
    expect(told("city")).to_have_text("")
    trip.get_by_role("button", name="Remove linz").click()
    expect(told("via")).to_have_text("")
