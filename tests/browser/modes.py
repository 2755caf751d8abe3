"""The modes in which people see a page: wide and narrow, light and dark. What is wrong with it in each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from playwright.sync_api import Page

from tests.browser.contrast import Contrast

WIDTHS = (1440, 360)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# A theme changes colours alone, and each width has one of them: so each theme and each width is asked all rules once.
# The contrast of what a page shows is asked in every mode.
WHOLE = {(1440, "light"), (360, "dark")}
# Charts take their new width a moment after the window: what is still too wide after so many frames stays so.
SIDEWAYS = """async () => {
  const { documentElement: root } = document;
  const tooWide = () => root.scrollWidth - root.clientWidth;
  for (let frame = 0; frame < 300 && tooWide() > 0; frame += 1) await new Promise(requestAnimationFrame);
  return tooWide();
}"""


def faults(page: Page, name: str, axe: Callable[[Page], list[str]], contrast: Contrast) -> list[str]:
    """Return what is wrong with the page that is open, in every width and theme."""
    return [fault for width in WIDTHS for fault in faults_at(page, width, name, axe, contrast)]


def faults_at(page: Page, width: int, name: str, axe: Callable[[Page], list[str]], contrast: Contrast) -> list[str]:
    """Return what is wrong with the page that is open, in a width of `WIDTHS` and every theme."""
    wrong: list[str] = []
    page.set_viewport_size({"width": width, "height": 900})
    if sideways := page.evaluate(SIDEWAYS):
        wrong.append(f"{name} at {width}: {sideways} px too wide")
    # A page goes on as it was made last: its colours change once for each width.
    for theme in THEMES if width == WIDTHS[0] else reversed(THEMES):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found = axe(page) if (width, theme) in WHOLE else contrast.violations(page)
        wrong += [f"{name} at {width}, {theme}: {each}" for each in found]
    return wrong
