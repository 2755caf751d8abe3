"""Test what is read of a page once nothing moves there any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from playwright.sync_api import FloatRect, Locator, Page

PAUSE = 300
T = TypeVar("T")


def steady(page: Page, read: Callable[[], T]) -> T:
    """Return what `read` gives once it has given the same twice, `PAUSE` milliseconds apart, on a page that is loaded.

    Chromium glides for half a second to what gets the focus, and a chart that makes room for its names moves its cells.
    """
    page.wait_for_load_state()
    before, found = None, read()
    while before != found:
        page.wait_for_timeout(PAUSE)
        before, found = found, read()
    return found


def box_of(locator: Locator) -> FloatRect:
    """Return where on the page an element stands still."""
    box = steady(locator.page, locator.bounding_box)
    assert box is not None
    return box
