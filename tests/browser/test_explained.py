"""The "?" of a heading opens the meaning of a word: by keys and by touch, on a phone, and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]


@pytest.fixture(scope="module")
def session(live_app: LiveApp, browser: Browser) -> str:
    """The session of the sample's owner."""
    page = browser.new_page()
    page.goto(f"{live_app.url}/sign-in/")
    login = live_app.login("owner")
    page.get_by_label("E-mail").fill(login["email"])
    page.get_by_label("Password").fill(login["password"])
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(f"{live_app.url}/sign-in/")
    (found,) = [each["value"] for each in page.context.cookies() if each["name"] == "sessionid"]
    page.close()
    return found


def opened(page: Page, live_app: LiveApp, session: str) -> None:
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_app.url}])
    page.goto(f"{live_app.url}/p/shop-support/datasets/support-messages/coverage/")


def test_keys_open_it_reach_the_link_and_close_it(page: Page, live_app: LiveApp, session: str) -> None:
    opened(page, live_app, session)
    button = page.get_by_role("button", name="Meaning of coverage")
    button.focus()
    page.keyboard.press("Enter")
    meaning = page.get_by_role("note")
    expect(meaning).to_contain_text("How many examples of each kind exist per tool")
    page.keyboard.press("Tab")
    expect(meaning.get_by_role("link", name="More")).to_be_focused()
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
    expect(button).to_be_focused()


def test_the_link_leads_to_the_place_that_says_more(page: Page, live_app: LiveApp, session: str) -> None:
    opened(page, live_app, session)
    page.get_by_role("button", name="Meaning of coverage").click()
    page.get_by_role("note").get_by_role("link", name="More").click()
    expect(page).to_have_url(f"{live_app.url}/docs/datasets/#coverage")


@pytest.mark.parametrize("width", [1440, 360])
def test_it_is_whole_in_the_window_also_by_touch_without_scripts(
    browser: Browser, live_app: LiveApp, session: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 700}, java_script_enabled=False, has_touch=True)
    page = context.new_page()
    opened(page, live_app, session)
    for name in ("coverage", "quota"):
        page.get_by_role("button", name=f"Meaning of {name}").tap()
        meaning = page.get_by_role("note")
        expect(meaning).to_have_count(1)
        expect(meaning).to_be_in_viewport(ratio=1)
        page.get_by_role("heading", level=1).tap()
        expect(meaning).to_have_count(0)
    context.close()
