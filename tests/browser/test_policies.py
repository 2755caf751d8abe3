"""A policy in a browser: made, measured, enforced for a reason, compared; wide and narrow, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labelling_shop import SEED
from tests.browser.test_files_and_gates import RUN, fits
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    started.python(RUN)
    return started


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (360, "dark")])
def test_a_policy_is_made_measured_and_enforced(
    app: LiveApp, person: Callable[[str], Page], axe: Any, width: int, scheme: Any
) -> None:
    page = person("Ada")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{app.url}/p/shop/policies/")
    fits(page)
    assert axe(page) == []
    page.get_by_label("Name", exact=True).fill(f"Shop {width}")
    page.get_by_label("Short name").fill(f"shop-{width}")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#say")).to_have_text("No rule is enforced: every call passes.")
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(page.get_by_role("button", name="Measure again")).to_be_visible()
    expect(page.get_by_role("link", name="run 1 of baseline")).to_be_visible()
    fits(page)
    assert axe(page) == []
    page.get_by_role("radiogroup", name="Mode of rule calls").get_by_text("enforce").click()
    page.get_by_role("button", name="Save the modes as a new version").click()
    expect(page.locator("#say")).to_contain_text("1 rule enforced")
    page.get_by_label("Reason").fill("Loops cost much.")
    fits(page)
    assert axe(page) == []
    page.get_by_role("button", name="Put version 2 in force all the same").click()
    expect(page.get_by_text("Put in force: Loops cost much.")).to_be_visible()
    expect(page.get_by_role("button", name="Take out of force")).to_be_visible()
    page.get_by_role("link", name="Changes of version 2").click()
    expect(page.get_by_role("row", name="/rules/calls/mode")).to_contain_text('"enforce"')
    fits(page)
    page.go_back()
    page.get_by_role("textbox", name="Document").fill('{"rules": {"a": {"kind": "magic", "mode": "off"}}}')
    page.get_by_role("button", name="Save as a new version", exact=True).click()
    expect(page.get_by_text("/rules/a/kind")).to_be_visible()
    fits(page)
    assert axe(page) == []
