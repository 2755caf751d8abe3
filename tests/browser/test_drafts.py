"""Test what a reviewer has entered survives a reload, a lost connection and second thoughts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.keyboard import choose_tool, heading, submit
from tests.browser.labelling_shop import alone, app, fill_return, label_return

__all__ = ["alone", "app"]
pytestmark = [pytest.mark.browser, pytest.mark.servers, pytest.mark.once]


def test_a_reload_keeps_the_draft(alone: Page):
    label_return(alone, "store credit")
    alone.reload()
    expect(alone.locator("#rationale")).to_have_value("She wants store credit.")
    expect(alone.get_by_label("store credit")).to_be_checked()
    expect(alone.locator(".chip")).to_have_text(re.compile("LIN"))


def test_a_lost_connection_keeps_draft_and_label(alone: Page):
    choose_tool(alone, "return")
    expect(alone.locator("[data-saved]")).to_contain_text("saved")
    alone.context.set_offline(True)
    fill_return(alone, "original payment")
    expect(alone.locator("[data-saved]")).to_contain_text("Server not reached: kept in this browser, retrying")
    before = heading(alone)
    alone.keyboard.press("Control+Enter")
    expect(alone.locator("[data-saved]")).to_contain_text("Server not reached: 1 label waits in this browser")
    alone.context.set_offline(False)
    expect(alone.get_by_role("heading", level=1)).not_to_have_text(before, timeout=30_000)
    expect(alone.locator("[data-toast]")).to_contain_text("Submitted")


def test_skip_and_undo_without_a_connection_say_so_and_change_nothing(alone: Page):
    before = heading(alone)
    alone.keyboard.press("s")
    alone.keyboard.press("Space")
    alone.context.set_offline(True)
    alone.get_by_role("button", name="Skip and next").press("Enter")
    dialog = alone.locator("dialog#skip")
    expect(dialog.get_by_role("alert")).to_contain_text("The server did not answer. Try again")
    expect(dialog.get_by_label("Unclear request")).to_be_checked()
    assert heading(alone) == before
    alone.context.set_offline(False)
    dialog.get_by_role("button", name="Skip and next").press("Enter")
    expect(alone.get_by_role("heading", level=1)).not_to_have_text(before)

    after = heading(alone)
    alone.context.set_offline(True)
    alone.keyboard.press("u")
    expect(alone.locator("[data-toast]").get_by_role("alert")).to_contain_text("The server did not answer. Try again")
    assert heading(alone) == after
    alone.context.set_offline(False)
    alone.keyboard.press("u")
    expect(alone.get_by_role("heading", level=1)).to_have_text(before)


def test_a_copy_that_the_server_never_got_is_put_back(alone: Page):
    choose_tool(alone, "return")
    expect(alone.locator("[data-saved]")).to_contain_text("saved")
    alone.route("**/draft/", lambda route: route.abort())
    fill_return(alone, "original payment")
    expect(alone.locator("[data-saved]")).to_contain_text("Server not reached: kept in this browser, retrying")
    alone.unroute("**/draft/")
    alone.reload()
    expect(alone.locator("#rationale")).to_have_value("She wants original payment.")
    expect(alone.get_by_label("original payment")).to_be_checked()


def test_undo_brings_the_label_back(alone: Page):
    before = heading(alone)
    label_return(alone, "original payment")
    submit(alone)
    alone.keyboard.press("u")
    expect(alone.get_by_role("heading", level=1)).to_have_text(before)
    expect(alone.locator("#rationale")).to_have_value("She wants original payment.")
