"""A policy in a browser: made, measured, read, enforced for a reason, compared; wide and narrow, light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labelling_shop import SEED
from tests.browser.test_files_and_gates import RUN, fits
from tests.fixtures.application import LiveApp

TRACES = """
from tests.traces.sending import conversation, export
from toolevals.traces.intake.services import spans_store
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.traces.models import Trace
from toolevals.traces.reading.services import trace_settle
from toolevals.workspace.models import Project

for number in range(1, 4):
    told = conversation(f"{number:032x}", arguments={"id": str(number)}, asked=f"Where is order {number}?")
    spans_store(project=Project.objects.get(), traces=sorted_spans(export(*told)).traces)
for trace in Trace.objects.all():
    trace_settle(trace=trace)
"""
ORDERS = '{"rules": {"orders": {"kind": "blocked", "mode": "enforce", "tools": ["get_order"]}}}'

pytestmark = [pytest.mark.browser, pytest.mark.servers]


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    started.python(RUN)
    started.python(TRACES)
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
    page.get_by_role("button", name="Activate version 2 anyway").click()
    expect(page.get_by_text("Activated: Loops cost much.")).to_be_visible()
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


@pytest.mark.parametrize(("width", "scheme"), [(1440, "dark"), (360, "light")])
def test_what_it_would_have_refused_is_read_and_then_enforced(
    app: LiveApp, person: Callable[[str], Page], axe: Any, width: int, scheme: Any
) -> None:
    page = person("Ada")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{app.url}/p/shop/policies/")
    page.get_by_label("Name", exact=True).fill(f"Orders {width}")
    page.get_by_label("Short name").fill(f"orders-{width}")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("textbox", name="Document").fill(ORDERS)
    page.get_by_role("button", name="Save as a new version", exact=True).click()
    # Version 1 has the same field.
    expect(page).to_have_title(re.compile("version 2"))
    page.get_by_label("newest traces").fill("2")
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(page.get_by_role("button", name="Measure again")).to_be_visible()
    expect(page.get_by_text("none read")).to_be_visible()
    expect(page.get_by_text("How often orders refuses wrongly is not known.")).to_be_visible()
    # What it would have refused, call by call.
    page.get_by_role("link", name="read what orders refuses").click()
    expect(page.locator("#say")).to_have_text("No one has read yet what this rule refuses.")
    expect(page.get_by_role("link", name="Where is order")).to_have_count(2)
    page.get_by_role("button", name="Should have been allowed").first.click()
    expect(page.locator("#say")).to_have_text("1 of 1 refused call that people read should have been allowed.")
    expect(page.get_by_role("button", name="Should have been allowed", pressed=True)).to_have_count(1)
    page.get_by_role("button", name="Right to refuse").last.click()
    expect(page.locator("#say")).to_have_text("1 of 2 refused calls that people read should have been allowed.")
    fits(page)
    assert axe(page) == []
    page.get_by_role("link", name=f"Orders {width}, version 2").click()
    expect(page.get_by_text("1 of 2 read as wrong")).to_be_visible()
    # One call is tried before it is enforced.
    page.get_by_label("Tool", exact=True).fill("get_order")
    page.get_by_role("button", name="Try", exact=True).click()
    expect(page.locator("#try").get_by_text("call refused")).to_be_visible()
    fits(page)
    assert axe(page) == []
    page.get_by_label("Reason").fill("Orders leaked.")
    page.get_by_role("button", name="Activate version 2 anyway").click()
    expect(page.get_by_text("Activated: Orders leaked.")).to_be_visible()
    expect(page.get_by_role("button", name="Take out of force")).to_be_visible()
