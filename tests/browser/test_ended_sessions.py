"""A session ends in mid-work: nothing that was typed is lost, nothing is said to be saved, and what waits is sent."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Page, expect

from tests.browser.keyboard import heading
from tests.browser.session_people import LABELS, line, person, say_none, shop, sign_out
from tests.browser.session_shop import ENDINGS, Shop, clear_cookies, dialog_sign_in, flush, kept_keys
from tests.browser.steady import steady
from tests.fixtures.people import PASSWORD

__all__ = ["person", "shop"]

pytestmark = [pytest.mark.browser, pytest.mark.servers]


def type_question(page: Page, why: str) -> None:
    page.locator("[data-question]").first.fill(why)


def type_decision(page: Page, why: str) -> None:
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-tally]")).to_have_text("1 of 1 decided")
    page.locator("#rationale").fill(why)


def type_rating(page: Page, why: str) -> None:
    page.get_by_role("radio").first.check()
    page.get_by_label("Note").fill(why)


WORK: dict[str, tuple[str, Callable[[Page, str], None], str, str | re.Pattern[str], str]] = {
    # page: (person, what is typed, where it stands, the button, what counts what was taken)
    "label": ("Lea", say_none, "#rationale", "Submit and next", LABELS),
    "adjudicate": (
        "Ada",
        type_decision,
        "#rationale",
        "Decide and next",
        "SELECT count(*) FROM labeling_adjudication WHERE rationale = ?",
    ),
    "question": (
        "Quin",
        type_question,
        "[data-question]",
        re.compile("^(Ask|Send)$"),
        "SELECT count(*) FROM labeling_comment WHERE text = ?",
    ),
    "calibration": (
        "Cal",
        say_none,
        "#rationale",
        "Submit and next",
        "SELECT count(*) FROM labeling_calibrationanswer WHERE rationale = ?",
    ),
    "rating": ("Ray", type_rating, "#note", "Rate and next", "SELECT count(*) FROM runs_rating WHERE note = ?"),
    "reading": ("Rey", type_rating, "#note", "Save and next", "SELECT count(*) FROM runs_reading WHERE note = ?"),
}


SAVES = ("label", "adjudicate", "calibration")


@pytest.mark.parametrize("where", WORK)
def test_what_is_handed_in_after_the_session_ended_is_kept_and_sent(
    where: str, shop: Shop, person: Callable[[str, str], Page]
):
    name, enter, field, button, taken = WORK[where]
    page = person(name, where)
    session = page.locator("dialog[data-session]")
    for number, (end, must_sign_in) in enumerate(ENDINGS):
        why = f"{where} {number}"
        typed = page.locator(field).first
        expect(typed).to_have_value("")
        enter(page, "begun")
        if where in SAVES:
            expect(line(page)).to_contain_text("Draft saved")
        end(shop, page)
        typed.fill(why)
        if must_sign_in and where in SAVES:
            expect(line(page)).to_have_text("Signed out: kept in this browser")
            expect(page.locator("[data-session-bar]")).to_contain_text("You are signed out.")
            # Who types is not interrupted.
            expect(session).to_be_hidden()
            expect(typed).to_be_focused()
        page.get_by_role("button", name=button).click()
        if must_sign_in:
            expect(session).to_be_visible()
            expect(typed).to_have_value(why)
            assert shop.query(taken, why) == [(0,)]
            dialog_sign_in(page, name)
        expect(page.locator(field).first).to_have_value("")
        expect(session).to_be_hidden()
        expect(page.locator("[data-session-bar]")).to_be_hidden()
        assert shop.awaited(taken, why, rows=[(1,)])
        # The next example may be there before the answer to the last one.
        assert steady(page, lambda: kept_keys(page)) == []


def test_signing_in_in_another_tab_sends_what_waits(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Tab", "label")
    say_none(page, "by another tab")
    flush(shop, page)
    before = heading(page)
    page.get_by_role("button", name="Submit and next").click()
    with page.context.expect_page() as opened:
        page.locator("dialog[data-session]").get_by_role("link", name="Sign in in another tab").click()
    tab = opened.value
    tab.get_by_label("E-mail").fill("tab@sessions.example.org")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=1)).not_to_have_text("Sign in")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    assert shop.query(LABELS, "by another tab") == [(1,)]


def test_a_second_step_is_taken_in_the_dialog_and_what_waits_is_sent(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Step", "label")
    say_none(page, "after a second step")
    before = heading(page)
    flush(shop, page)
    page.get_by_role("button", name="Submit and next").click()
    dialog_sign_in(page, "Step")
    session = page.locator("dialog[data-session]")
    code = session.get_by_label("Code of your app, or a recovery code")
    expect(code).to_be_focused()
    expect(session.get_by_label("Password")).to_be_hidden()
    code.fill("000000")
    page.keyboard.press("Enter")
    expect(session.get_by_role("alert")).to_contain_text("Try the next code.")
    with page.context.expect_page() as opened:
        session.get_by_role("link", name="Use a passkey in another tab").click()
    expect(opened.value.get_by_role("heading", name="Second step")).to_be_visible()
    opened.value.close()
    page.bring_to_front()
    code.focus()
    assert shop.query(LABELS, "after a second step") == [(0,)]
    # What was typed is asked for again where the password was too long ago.
    flush(shop, page)
    page.keyboard.press("Enter")
    expect(session.get_by_role("alert")).to_contain_text("Too much time has passed")
    dialog_sign_in(page, "Step")
    code.fill(str(format_hotp_value(hotp_value("A" * 32, int(time.time()) // 30))))
    page.keyboard.press("Enter")
    expect(session).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    assert shop.awaited(LABELS, "after a second step", rows=[(1,)])
    assert steady(page, lambda: kept_keys(page)) == []


def test_another_person_is_shown_nothing_and_sends_nothing(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Ann", "label")
    say_none(page, "typed by Ann")
    before = heading(page)
    flush(shop, page)
    page.get_by_role("button", name="Submit and next").click()
    dialog_sign_in(page, "Other")
    covered = page.locator("dialog[data-session]")
    expect(covered.get_by_role("heading", name="Another person is signed in")).to_be_visible()
    expect(page.locator("#rationale")).not_to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(covered).to_be_visible()

    # Their own pages know nothing of it.
    tab = page.context.new_page()
    tab.goto(shop.url("label"))
    expect(tab.locator("#rationale")).to_have_value("")
    expect(tab.locator("[data-saved]")).to_be_hidden()
    assert len(kept_keys(tab)) == 2
    assert shop.query(LABELS, "typed by Ann") == [(0,)]
    tab.close()

    dialog_sign_in(page, "Ann")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    assert shop.query(LABELS, "typed by Ann") == [(1,)]
    assert kept_keys(page) == []


def test_who_signs_out_is_told_what_waits_and_may_send_it(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Out", "label")
    say_none(page, "before I go")
    page.route("**/submit/", lambda route: route.abort())
    page.get_by_role("button", name="Submit and next").click()
    expect(line(page)).to_contain_text("Server not reached: 1 label waits in this browser, retrying")
    sign_out(page)
    leaving = page.locator("dialog[data-leaving]")
    expect(leaving).to_contain_text("Still in this browser: 1 submission.")
    leaving.get_by_role("button", name="Send and sign out").click()
    expect(leaving.get_by_role("alert")).to_have_text("Not sent: the server did not answer. Try again in a moment.")
    assert shop.query(LABELS, "before I go") == [(0,)]
    page.unroute("**/submit/")
    leaving.get_by_role("button", name="Send and sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert shop.query(LABELS, "before I go") == [(1,)]
    assert kept_keys(page) == []
    # "Back" shows nothing of the page.
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(page.get_by_text("before I go")).to_have_count(0)


def test_a_page_is_covered_when_its_person_signs_out_in_another_tab(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Gone", "label")
    say_none(page, "in plain sight")
    expect(line(page)).to_contain_text("Draft saved")
    tab = page.context.new_page()
    tab.goto(f"{shop.app.url}/profile/")
    sign_out(tab)
    expect(page.locator("dialog[data-session]")).to_be_visible()
    expect(page.locator("#rationale")).not_to_be_visible()
    dialog_sign_in(page, "Gone")
    expect(page.locator("#rationale")).to_have_value("in plain sight")
    expect(page.locator("#rationale")).to_be_visible()


def test_a_filled_in_form_does_not_leave_its_page_for_nothing(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Form", "label")
    page.goto(f"{shop.app.url}/profile/")
    page.get_by_role("textbox", name="Name").fill("Form the Second")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save").first.click()
    expect(page.locator("[data-not-sent]")).to_contain_text("Not sent: you are signed out.")
    expect(page.get_by_role("textbox", name="Name")).to_have_value("Form the Second")
    dialog_sign_in(page, "Form")
    expect(page.locator("[data-not-sent]")).to_have_count(0)
    expect(page.locator(".avatar").first).to_have_attribute("aria-label", re.compile("Form the Second"))
    assert shop.query("SELECT count(*) FROM workspace_user WHERE name = ?", "Form the Second") == [(1,)]


def test_a_page_that_follows_a_job_rests_while_signed_out_and_goes_on(shop: Shop, person: Callable[[str, str], Page]):
    page = person("Jo", "jobs")
    # Its timers can be moved on.
    page.clock.install()
    page.reload()
    job = page.get_by_role("region", name=re.compile("^Export Core"))
    bar = page.locator("[data-session-bar]")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for end in (clear_cookies, flush):
        with page.expect_response(shop.url("job")) as answer:
            pass
        assert answer.value.status == 200
        end(shop, page)
        expect(bar).to_be_visible()
        expect(bar).to_contain_text("You are signed out.")
        asked.clear()
        page.clock.run_for(10_000)
        assert asked == []
        expect(job).to_contain_text("paused")
        bar.locator("[data-session-open]").click()
        dialog_sign_in(page, "Jo")
        expect(bar).to_be_hidden()
    job.get_by_role("button", name="Resume").click()
    # By itself, without being loaded anew.
    expect(job.get_by_role("link", name="Open the result")).to_be_visible()
