"""A server that is not ready, or answers without acknowledging, loses nothing: what was handed in waits and is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.keyboard import heading
from tests.browser.session_people import LABELS, line, person, say_none, shop
from tests.browser.session_shop import Shop

__all__ = ["person", "shop"]

pytestmark = [pytest.mark.browser, pytest.mark.servers]


def without_next(person: Callable[[str, str], Page]) -> Page:
    """Open the labelling page of a person to whom no next example comes ahead."""
    page = person("Way", "label")
    page.route("**/ahead/", lambda route: route.abort())
    # One may have come before.
    page.reload()
    return page


def test_a_server_that_is_not_ready_is_waited_for_as_long_as_it_asks(shop: Shop, person: Callable[[str, str], Page]):
    page = without_next(person)
    say_none(page, "not ready")
    expect(line(page)).to_contain_text("Draft saved")
    page.clock.install()
    tries: list[str] = []

    def busy(route: Route) -> None:
        tries.append(route.request.url)
        route.fulfill(status=503, headers={"Retry-After": "40"}, content_type="text/html", body="<h1>Busy</h1>")

    page.route("**/submit/", busy)
    before = heading(page)
    page.get_by_role("button", name="Submit and next").click()
    waits = "Server not ready (503): 1 label waits in this browser, retrying"
    expect(line(page)).to_contain_text(waits)
    page.clock.run_for(39_000)
    assert len(tries) == 1
    with page.expect_request("**/submit/"):
        page.clock.run_for(6_000)
    expect(line(page)).to_contain_text(waits)
    assert (len(tries), heading(page)) == (2, before)
    page.unroute("**/submit/")
    page.clock.run_for(45_000)
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    assert shop.query(LABELS, "not ready") == [(1,)]


@pytest.mark.parametrize("answer", [{"status": 200, "body": "<h1>Sign in to this network</h1>"}, {"status": 502}])
def test_an_answer_that_acknowledges_nothing_is_no_success(
    answer: dict[str, Any], shop: Shop, person: Callable[[str, str], Page]
):
    page = without_next(person)
    why = f"acknowledged {answer['status']}"
    page.route("**/draft/", lambda route: route.fulfill(content_type="text/html", **answer))
    say_none(page, why)
    expect(line(page)).to_contain_text("kept in this browser, retrying")
    page.route("**/submit/", lambda route: route.fulfill(content_type="text/html", **answer))
    before = heading(page)
    page.get_by_role("button", name="Submit and next").click()
    expect(line(page)).to_contain_text("1 label waits in this browser, retrying")
    assert heading(page) == before
    page.unroute("**/submit/")
    page.unroute("**/draft/")
    page.reload()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    assert shop.query(LABELS, why) == [(1,)]


def test_a_pane_that_the_server_could_not_draw_is_drawn_once_it_is_back(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Way", "label")
    for address in ("panel", "draft"):
        page.route(f"**/{address}/", lambda route: route.fulfill(status=503, headers={"Retry-After": "1"}))
    page.keyboard.press("0")
    expect(line(page)).to_contain_text("Server not ready (503): kept in this browser, retrying")
    expect(page.get_by_label("greeting")).to_have_count(0)
    page.unroute_all()
    expect(page.get_by_label("greeting")).to_be_visible()
    expect(line(page)).to_contain_text("Draft saved")


def test_where_the_browser_keeps_nothing_the_page_does_and_says_so(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Way", "label")
    page.context.add_init_script("Storage.prototype.setItem = () => { throw new DOMException('full') }")
    page.reload()
    say_none(page, "nowhere but here")
    page.route("**/submit/", lambda route: route.abort())
    before = heading(page)
    page.get_by_role("button", name="Submit and next").click()
    expect(line(page)).to_contain_text("Server not reached: 1 label waits on this page only, retrying")
    page.unroute("**/submit/")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    assert shop.awaited(LABELS, "nowhere but here", rows=[(1,)])


def test_what_is_changed_after_it_was_handed_in_is_handed_in_anew(shop: Shop, person: Callable[[str, str], Page]):
    page = without_next(person)
    say_none(page, "first thought")
    page.route("**/submit/", lambda route: route.abort())
    before = heading(page)
    page.get_by_role("button", name="Submit and next").click()
    expect(line(page)).to_contain_text("1 label waits in this browser")
    page.unroute("**/submit/")
    page.locator("#rationale").fill("second thought")
    expect(line(page)).to_contain_text("Draft saved")
    assert heading(page) == before
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    assert shop.query(LABELS, "first thought") == [(0,)]
    assert shop.query(LABELS, "second thought") == [(1,)]
