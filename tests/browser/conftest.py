"""People in browsers of their own, signed in to the application that a module's fixture `app` has started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, Keyboard, Locator, Page, StorageState, expect

from tests.browser.contrast import Contrast
from tests.fixtures.application import LiveApp
from tests.fixtures.browser import axe_violations
from tests.fixtures.people import PASSWORD

# Milliseconds: a machine may be busy.
WAIT = 15_000


@pytest.fixture(autouse=True)
def only_on_loaded_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Press keys and click only once a page's scripts run: what people see is shown before its shortcuts listen."""
    keyboard = vars(Page)["keyboard"]
    click = Locator.click

    def keyboard_of_loaded(page: Page) -> Keyboard:
        page.wait_for_load_state()
        found: Keyboard = keyboard.fget(page)
        return found

    def click_on_loaded(locator: Locator, **options: Any) -> None:
        locator.page.wait_for_load_state()
        click(locator, **options)

    monkeypatch.setattr(Page, "keyboard", property(keyboard_of_loaded))
    monkeypatch.setattr(Locator, "click", click_on_loaded)


@pytest.fixture(scope="session")
def contrast() -> Contrast:
    """The looks of text that have passed on any page of this test process."""
    return Contrast()


@pytest.fixture(scope="session")
def axe(contrast: Contrast) -> Callable[[Page], list[str]]:
    """Return a function that gives a page's violations of WCAG A and AA, one line each."""

    def violations(page: Page) -> list[str]:
        return contrast.violations(page) + axe_violations(page)

    return violations


@pytest.fixture(scope="module")
def signed_in(browser: Browser, app: LiveApp) -> Callable[[str], StorageState]:
    """Return a function that signs a person in, once, and gives their cookies."""

    @cache
    def sign_in(name: str) -> StorageState:
        page = browser.new_page()
        page.goto(f"{app.url}/sign-in/?next=/p/shop/")
        page.get_by_label("E-mail").fill(f"{name.lower()}@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{app.url}/p/shop/", timeout=WAIT)
        state = page.context.storage_state()
        page.close()
        return state

    return sign_in


def cookies_into(page: Page, state: StorageState) -> None:
    """Give a page, before it is opened, the session of a person who signed in elsewhere."""
    kept = state.get("cookies", [])
    page.context.add_cookies(
        [
            {"name": each["name"], "value": each["value"], "domain": each["domain"], "path": each["path"]}
            for each in kept
        ]
    )


@pytest.fixture
def person(browser: Browser, signed_in: Callable[[str], StorageState]) -> Iterator[Callable[[str], Page]]:
    """Return a function that opens the browser of a person who is signed in."""
    contexts = []
    errors: list[str] = []

    def start(name: str) -> Page:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, storage_state=signed_in(name))
        context.set_default_timeout(WAIT)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None)
        return page

    expect.set_options(timeout=WAIT)
    yield start
    expect.set_options(timeout=5_000)
    for context in contexts:
        context.close()
    assert errors == []
