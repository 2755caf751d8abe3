"""Every page, light and dark, wide and narrow: no violation of WCAG AA, and nothing scrolls sideways."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.fixtures.application import LiveApp
from toolevals.sample.accounts import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.servers]

PAGES = "from tests.browser.sample_pages import pages_print; pages_print()"
FEWEST = 40
WIDTHS = (1440, 360)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
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
    page.get_by_label("E-mail").fill("otto@shop.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(f"{app.url}/sign-in/")
    wrong: list[str] = []
    for name, path in pages:
        page.goto(app.url + path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if sideways := page.evaluate(SIDEWAYS):
                wrong.append(f"{name} at {width}: {sideways} px too wide")
            for theme in THEMES:
                page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                wrong += [f"{name} at {width}, {theme}: {each}" for each in axe(page)]
    assert not wrong, "\n".join(wrong)
