"""The next example, taken ahead: shown where the server is slow or lost, in this page's memory alone."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Response, Route, expect

from tests.browser.keyboard import heading
from tests.browser.session_people import LABELS, line, person, say_none, shop, sign_out
from tests.browser.session_shop import Shop, kept_keys
from tests.servers.delaying import DelayingProxy

__all__ = ["person", "shop"]

pytestmark = [pytest.mark.browser, pytest.mark.servers, pytest.mark.once]
HELD = (
    "SELECT count(*) FROM labeling_labelslot s JOIN workspace_user u ON u.id = s.reviewer_id "
    "WHERE u.name = ? AND s.state = 'claimed'"
)
WAITS = "1 label waits in this browser"


def with_next(page: Page, why: str) -> str:
    """Enter a label, and return the example it is for once the next one is here too."""
    typed = why.replace(" ", "+")

    def is_saved(response: Response) -> bool:
        return response.url.endswith("/draft/") and typed in (response.request.post_data or "")

    with page.expect_response("**/ahead/") as answered, page.expect_response(is_saved):
        say_none(page, why)
    answered.value.finished()
    return heading(page)


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit and next").click()


def test_a_lost_connection_stops_nobody_and_loses_nothing(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Way", "label")
    first = with_next(page, "lost one")
    kept = page.evaluate("JSON.stringify(localStorage)")
    assert "data-slot" not in kept
    page.context.set_offline(True)
    submit(page)
    expect(page.get_by_role("heading", level=1)).not_to_have_text(first)
    expect(line(page)).to_contain_text(WAITS)
    second = heading(page)
    page.keyboard.press("0")
    page.locator("#rationale").fill("typed without a connection")
    expect(page.locator("[data-outbox]")).to_have_text("1 label not sent yet")
    expect(page.locator("#main")).not_to_contain_text("Draft saved")
    assert shop.query(LABELS, "lost one") == [(0,)]
    page.context.set_offline(False)
    expect(page.locator("[data-outbox]")).to_be_hidden()
    expect(page.locator("[data-toast]")).to_contain_text(f"Submitted {first.removeprefix('Example ')}.")
    expect(page.locator("#rationale")).to_have_value("typed without a connection")
    expect(line(page)).to_contain_text("Draft saved")
    assert heading(page) == second
    assert shop.query(LABELS, "lost one") == [(1,)]
    assert [key for key in kept_keys(page) if key.startswith("outbox:")] == []
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(first)
    expect(page.locator("#rationale")).to_have_value("lost one")


def test_two_labels_without_a_connection_are_both_sent_once(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Gone", "label")
    first = with_next(page, "gone one")
    page.route("**/submit/", lambda route: route.abort())
    submit(page)
    expect(page.get_by_role("heading", level=1)).not_to_have_text(first)
    second = heading(page)
    say_none(page, "gone two")
    submit(page)
    # The first is still claimed, so no third is handed out meanwhile.
    expect(line(page)).to_contain_text("2 labels wait in this browser")
    expect(page.locator("[data-outbox]")).to_be_hidden()
    assert heading(page) == second
    page.unroute("**/submit/")
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/submit/"):
            sent.append(request.post_data or "")

    page.on("request", note)
    page.reload()
    expect(page.locator("[data-outbox]")).to_be_hidden()
    # As they were handed in: the answer to the second does not offer the first again.
    assert [word for data in sent for word in ("gone+one", "gone+two") if word in data] == ["gone+one", "gone+two"]
    for number in ("one", "two"):
        assert shop.awaited(LABELS, f"gone {number}", rows=[(1,)])


def hand_in_two_offline(page: Page, word: str) -> tuple[str, str]:
    """Hand in two labels without a connection; return the names of their examples."""
    first = with_next(page, f"{word} one")
    page.context.set_offline(True)
    submit(page)
    expect(page.get_by_role("heading", level=1)).not_to_have_text(first)
    second = heading(page)
    # The fields of a tool come from the server: a choice that needs them is not handed in without.
    page.keyboard.press("0")
    submit(page)
    expect(line(page)).to_have_text("Server not reached: not handed in, the fields of this choice are not here yet")
    page.get_by_text("It can be read in more than one way").click()
    page.locator("#rationale").fill(f"{word} two")
    expect(page.locator("[data-outbox]")).to_have_text("1 label not sent yet")
    submit(page)
    # One line says how many wait.
    expect(line(page)).to_contain_text("Server not reached: 2 labels wait in this browser")
    expect(page.locator("[data-outbox]")).to_be_hidden()
    return first.removeprefix("Example "), second.removeprefix("Example ")


def test_both_labels_of_a_lost_connection_are_sent_and_said(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Off", "label")
    first, second = hand_in_two_offline(page, "off")
    page.evaluate(
        "window.said = []; new MutationObserver(() => said.push(document.body.innerText)).observe(document.body,"
        " {childList: true, subtree: true, characterData: true})"
    )
    page.context.set_offline(False)
    expect(page.locator("[data-toast]")).to_contain_text(f"Submitted {second}.", timeout=30_000)
    expect(line(page)).to_have_text(f"Sent 1 label that waited: {first}")
    expect(page.locator("[data-outbox]")).to_be_hidden()
    for number in ("one", "two"):
        assert shop.awaited(LABELS, f"off {number}", rows=[(1,)])
    said = page.evaluate("said")
    assert any(f"Submitted {first}." in words for words in said)
    assert not any("Draft saved" in words or "changed since" in words for words in said)
    assert [key for key in kept_keys(page) if key.startswith(("outbox:", "draft:"))] == []


def test_both_labels_of_a_lost_connection_are_sent_after_a_reload(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Back", "label")
    first, second = hand_in_two_offline(page, "back")
    page.route("**/submit/", lambda route: route.abort())
    page.context.set_offline(False)
    page.reload()
    expect(line(page)).to_contain_text("Server not reached: 2 labels wait in this browser")
    assert heading(page) == f"Example {second}"
    page.unroute("**/submit/")
    page.reload()
    expect(page.locator("[data-toast]")).to_contain_text(f"Submitted {second}.", timeout=30_000)
    expect(line(page)).to_have_text(f"Sent 1 label that waited: {first}")
    for number in ("one", "two"):
        assert shop.awaited(LABELS, f"back {number}", rows=[(1,)])


def test_a_slow_answer_is_not_waited_for(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Form", "label")
    first = with_next(page, "slow one")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/submit/", hold)
    submit(page)
    expect(page.get_by_role("heading", level=1)).not_to_have_text(first, timeout=2_000)
    expect(page.locator("[data-outbox]")).to_have_text("1 label not sent yet")
    expect(page.locator("[data-toast]")).to_have_count(0)
    assert shop.query(LABELS, "slow one") == [(0,)]
    held[0].continue_()
    expect(page.locator("[data-toast]")).to_contain_text("Submitted")
    expect(page.locator("[data-outbox]")).to_be_hidden()
    assert shop.query(LABELS, "slow one") == [(1,)]


def test_with_200_ms_of_latency_the_next_is_there_in_under_a_second(shop: Shop, person: Callable[[str, str], Page]):
    with DelayingProxy(shop.app.application.port) as proxy:
        page = person("Out", "label")
        page.context.add_cookies([{"name": "sessionid", "value": shop.sessions["Out"], "url": proxy.url}])
        page.goto(page.url.replace(shop.app.url, proxy.url))
        times = []
        for number in range(4):
            before = with_next(page, f"late {number}")
            page.evaluate("window.began = performance.now()")
            submit(page)
            expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
            times.append(page.evaluate("performance.now() - window.began"))
            expect(page.locator("[data-outbox]")).to_be_hidden()
        assert sorted(times)[1] < 1000, times
        assert [shop.query(LABELS, f"late {number}") for number in range(4)] == [[(1,)]] * 4


def test_leaving_and_signing_out_give_it_back(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Other", "label")
    with_next(page, "never handed in")
    assert shop.query(HELD, "Other") == [(2,)]
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Datasets")
    assert shop.query(HELD, "Other") == [(0,)]
    page.goto(shop.url("label"))
    with page.expect_response("**/ahead/"):
        page.locator("#rationale").fill("never handed in either")
    expect(line(page)).to_contain_text("Draft saved")
    with page.expect_request("**/leave/") as left:
        sign_out(page)
        choice = page.locator("[data-leaving-anyway]")
        if choice.is_visible():
            choice.click()
    assert "ahead=" in (left.value.post_data or "")
    assert json.dumps(kept_keys(page)).count("outbox") == 0
