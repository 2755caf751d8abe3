"""Every page, light and dark, wide and narrow: no violation of WCAG AA, and nothing scrolls sideways."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

PAGES = "from tests.browser.sample_pages import pages_print; pages_print()"
FEWEST = 40
WIDTHS = (1440, 360)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# All rules are asked in one mode of each width, and those of colours in every mode: a theme changes colours alone.
WHOLE = {(1440, "light"), (360, "dark")}
# Charts take their new width a moment after the window: what is still too wide after so many frames stays so.
SIDEWAYS = """async () => {
  const { documentElement: root } = document;
  const tooWide = () => root.scrollWidth - root.clientWidth;
  for (let frame = 0; frame < 300 && tooWide() > 0; frame += 1) await new Promise(requestAnimationFrame);
  return tooWide();
}"""


def test_every_page_is_accessible_in_every_mode(
    page: Page, live_app_start: Callable[..., LiveApp], axe: Callable[..., list[str]]
):
    """One sign-in; each page is opened once, then made narrow and dark as it stands."""
    app = live_app_start(sample=True)
    pages = json.loads(app.python(PAGES))
    assert len(pages) > FEWEST
    page.goto(f"{app.url}/sign-in/")
    login = app.login("owner")
    page.get_by_label("E-mail").fill(login["email"])
    page.get_by_label("Password").fill(login["password"])
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(f"{app.url}/sign-in/")
    wrong: list[str] = []
    for name, path in pages:
        page.goto(app.url + path)
        wrong += faults(page, name, axe)
    wrong += faults_of_an_invitation(page, app, axe)
    assert not wrong, "\n".join(wrong)


def faults(page: Page, name: str, axe: Callable[..., list[str]]) -> list[str]:
    """Return what is wrong with the page that is open, in every width and theme."""
    wrong: list[str] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if sideways := page.evaluate(SIDEWAYS):
            wrong.append(f"{name} at {width}: {sideways} px too wide")
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            found = axe(page, colours=(width, theme) not in WHOLE)
            wrong += [f"{name} at {width}, {theme}: {each}" for each in found]
    return wrong


def faults_of_an_invitation(page: Page, app: LiveApp, axe: Callable[..., list[str]]) -> list[str]:
    """Invite a person, go the person's way in, and return what is wrong with the pages on it."""
    page.goto(f"{app.url}/p/shop-support/members/")
    page.get_by_label("E-mail address").fill("nora.with.a.long.address@department.example.org")
    page.get_by_role("button", name="Make the link").click()
    link = page.locator("[data-copy]").get_attribute("data-copy") or ""
    wrong = faults(page, "an invitation made", axe)
    page.context.clear_cookies()
    page.goto(link)
    wrong += faults(page, "an invitation's link", axe)
    page.get_by_label("Your name").fill("Nora Newcome")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    page.get_by_label("The same password again").fill("correct horse battery")
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_text("Your account is made")).to_be_visible()
    return wrong + faults(page, "signing in after an invitation", axe)
