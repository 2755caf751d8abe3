"""Test what people do on the work pages by keyboard."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def heading(page: Page) -> str:
    """Return which example it is, or that there is none."""
    return page.get_by_role("heading", level=1).inner_text()


def choose_tool(page: Page, words: str) -> None:
    """Find a tool by a part of its name and choose it; the focus goes to its first argument."""
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    expect(page.locator("#panel [data-value]").first).to_be_focused()


def submit(page: Page) -> None:
    """Hand the label in and wait for what comes next."""
    before = heading(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
