"""A second look at what an agent did, after the time to change a label: asked once, and the label stays."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.keyboard import submit
from tests.browser.labelling_shop import app, say_none
from tests.fixtures.application import LiveApp

__all__ = ["app"]
pytestmark = [pytest.mark.browser, pytest.mark.servers]

PROPOSED = """
from labeling.models import Dataset, Revision
from labeling.second_looks.pending_second_looks import proposal_document
from labeling.second_looks.services import second_looks_begin
from toolevals.grading.values import ToolCall
dataset = Dataset.objects.get(slug="core")
dataset.project.undo_seconds = 0
dataset.project.save()
calls = proposal_document([ToolCall("get_order", {"order_id": "A-1"})])
proposals = {pk: calls for pk in Revision.objects.filter(example__dataset=dataset).values_list("pk", flat=True)}
second_looks_begin(dataset=dataset, actor=None, run=1, agent="Rival", proposals=proposals, planted_share=0.2)
"""
SAID = """
import json
from labeling.models import Label, SecondLook
print(json.dumps([[l.expectation["kind"] for l in Label.objects.all()],
    [[s.answer, s.remark] for s in SecondLook.objects.all()]]))
"""


def test_the_label_stays_whatever_is_said(
    person: Callable[[str], Page], app: LiveApp, axe: Callable[[Page], list[str]]
):
    app.python(PROPOSED)
    page = person("Ann")
    page.goto(f"{app.url}/p/shop/label/")
    expect(page.locator(".tool-row").first).to_be_visible()
    expect(page.get_by_text("second look")).to_have_count(0)
    say_none(page)
    submit(page)
    page.get_by_role("link", name="1 second look").click()
    expect(page.get_by_role("heading", name="Second look", exact=True)).to_be_visible()
    expect(page.locator("#main")).to_contain_text("Some proposals are deliberately wrong.")
    expect(page.locator("#main")).not_to_contain_text("Rival")
    assert axe(page) == []
    page.get_by_label("Reason (optional)").fill("It names the order.")
    page.get_by_role("button", name="The proposal is right").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Second looks")
    expect(page.locator("table")).to_contain_text("went over to the proposal")
    assert axe(page) == []
    assert json.loads(app.python(SAID)) == [["no_call"], [["went_over", "It names the order."]]]
