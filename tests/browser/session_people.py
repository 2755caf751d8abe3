"""The people of the tests of ended sessions: their browsers, and what they enter."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import WAIT
from tests.browser.session_shop import Shop
from tests.fixtures.application import LiveApp

LABELS = "SELECT count(*) FROM labeling_label WHERE rationale = ?"


@pytest.fixture(scope="module")
def shop(live_app: LiveApp) -> Shop:
    """Return the application with the project in it."""
    return Shop.seeded(live_app)


@pytest.fixture
def person(browser: Browser, shop: Shop) -> Iterator[Callable[[str, str], Page]]:
    """Return a function that opens one of the work pages in the browser of a person."""
    contexts = []
    errors: list[str] = []

    def start(name: str, where: str) -> Page:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(WAIT)
        context.on("weberror", lambda error: errors.append(str(error.error)))
        contexts.append(context)
        page = context.new_page()
        shop.sign_in(page, name)
        page.goto(shop.url(where))
        return page

    expect.set_options(timeout=WAIT)
    yield start
    expect.set_options(timeout=5_000)
    for context in contexts:
        context.close()
    assert errors == []


def line(page: Page) -> Locator:
    """Return the line that says what is saved."""
    return page.locator("[data-saved]")


def say_none(page: Page, why: str) -> None:
    """Enter that no call is due, and why."""
    page.keyboard.press("0")
    page.get_by_label("greeting").check()
    page.locator("#rationale").fill(why)


def sign_out(page: Page) -> None:
    """Sign out by the menu of the person."""
    page.locator(".avatar").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
