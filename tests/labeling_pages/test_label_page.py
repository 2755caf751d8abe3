"""The label page: claiming, what it shows, its panes, the draft."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from labeling.label.claims import slot_release
from labeling.label.services import label_submit
from labeling.models import Dataset, Draft, Example, LabelSlot, Revision, SlotState
from tests.labeling_pages.conftest import body
from tests.labeling_pages.long_conversation import long_input
from tests.labeling_pages.shop import fields, messages, returned
from toolevals.workspace.models import User

AsUser = Callable[[User], Client]


def url(name: str, *arguments: object) -> str:
    return reverse(f"labeling:{name}", args=["shop", *arguments])


def test_the_next_example_is_claimed_and_shown(dataset: Dataset, reviewer: User, as_user: AsUser):
    response = as_user(reviewer).get(url("label"), follow=True)
    slot = LabelSlot.objects.get(reviewer=reviewer)
    assert slot.state == SlotState.CLAIMED
    assert response.redirect_chain[-1][0] == url("label-slot", slot.pk)
    page = body(response)
    assert "Label ex-0" in page
    assert 'value="none"' in page
    assert "create_return" in page
    assert "destructive" in page
    assert "0 of 3 labelled by you" in page
    assert 'data-code="a"' in page


def test_a_dataset_can_be_worked_on_alone(dataset: Dataset, reviewer: User, as_user: AsUser):
    response = as_user(reviewer).get(url("label") + "?dataset=core", follow=True)
    assert 'name="scope" value="core"' in body(response)
    assert as_user(reviewer).get(url("label") + "?dataset=other").status_code == 404


def test_parts_that_a_page_left_out_are_sent_to_whom_the_page_is_shown(
    dataset: Dataset, slot: LabelSlot, reviewer: User, second_reviewer: User, as_user: AsUser
):
    Revision.objects.filter(pk=slot.revision_id).update(input=long_input(40))
    page, client = url("label-slot", slot.pk), as_user(reviewer)
    whole = body(client.get(page))
    assert f'data-parts-url="{page}"' in whole
    assert 'data-part-name="1"' in whole
    assert "A-00011" not in whole
    lease = LabelSlot.objects.values_list("lease_until").get(pk=slot.pk)
    parts = client.get(page, {"part": ["1", "2", "9999", "0.7", "x", "-1"]}).json()["parts"]
    assert list(parts) == ["1", "2"]
    assert "A-00011" in parts["1"]
    assert 'class="pick"' in parts["1"]
    assert "get_order" in parts["2"]
    # What is read renews no claim.
    assert LabelSlot.objects.values_list("lease_until").get(pk=slot.pk) == lease
    assert "parts" not in body(as_user(second_reviewer).get(page, {"part": "1"}))
    example = url("example", "core", slot.revision.example_id)
    assert f'data-parts-url="{example}?"' in body(client.get(example))
    shown = client.get(example, {"part": "1"}).json()["parts"]["1"]
    assert "A-00011" in shown
    assert 'class="pick"' not in shown


def test_nothing_left_is_said(reviewer: User, as_user: AsUser):
    assert "Nothing to label" in body(as_user(reviewer).get(url("label")))


def test_the_guideline_opens_by_address(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    assert 'class="pane drawer"' in body(client.get(url("label-slot", slot.pk)))
    page = body(client.get(url("label-slot", slot.pk) + "?guide=1"))
    assert 'class="pane drawer is-open"' in page
    assert "<code>pickup</code>" in page


def test_a_script_gets_the_example_alone(slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]):
    page = body(as_user(reviewer).get(url("label-slot", slot.pk), headers=swap))
    assert page.lstrip().startswith('<main id="main"')
    assert "topbar" not in page


def test_anothers_slot_leads_to_ones_own(slot: LabelSlot, second_reviewer: User, as_user: AsUser):
    response = as_user(second_reviewer).get(url("label-slot", slot.pk))
    assert response["Location"] == url("label")


@pytest.mark.parametrize("act", ["draft", "submit", "skip"])
def test_acts_on_anothers_slot_come_too_late(slot: LabelSlot, second_reviewer: User, as_user: AsUser, act: str):
    response = as_user(second_reviewer).post(url(f"label-{act}", slot.pk), fields())
    assert response.status_code == 409
    assert "has expired" in response.json()["message"]
    assert not slot.labels.exists()


def test_roles(slot: LabelSlot, viewer: User, outsider: User, as_user: AsUser):
    assert as_user(viewer).get(url("label")).status_code == 403
    assert as_user(outsider).get(url("label")).status_code == 404
    assert Client().get(url("label")).status_code == 302


def test_the_pane_of_a_tool(slot: LabelSlot, reviewer: User, as_user: AsUser):
    page = body(as_user(reviewer).post(url("label-panel", slot.pk), {"tool": "1", "to": "tool"}))
    assert page.count('class="form-select matcher') == 8
    assert "original payment" in page
    assert 'aria-label="Add pickup"' in page
    assert "default" in page
    opened = {"tool": "1", "to": "name", "at": "c1/pickup", "as": "fields"}
    assert 'name="c1.v/pickup/date"' in body(as_user(reviewer).post(url("label-panel", slot.pk), opened))


def test_the_pane_turns_to_json_and_back(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    page = body(client.post(url("label-panel", slot.pk), fields(to="json")))
    assert "&quot;refund_to&quot;" in page
    for label, words in (
        ('{"kind": "some_call"}', "Any tool call is right"),
        ('{"kind": "some_call", "why": "-"}', "stays JSON"),
    ):
        entered = {"mode": "json", "to": "form", "json": label}
        assert words in body(client.post(url("label-panel", slot.pk), entered))


def test_a_pane_needs_ones_own_slot(slot: LabelSlot, second_reviewer: User, as_user: AsUser):
    assert as_user(second_reviewer).post(url("label-panel", slot.pk), {"tool": "1"}).status_code == 404


def test_a_draft_is_kept_and_checked(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    response = client.post(url("label-draft", slot.pk), fields(**{"c1.v/order_id": ""}))
    answer = response.json()
    assert answer["saved_at"]
    assert [problem["field"] for problem in answer["problems"]] == ["c1/order_id"]
    page = body(client.get(url("label-slot", slot.pk)))
    assert "She named the card." in page
    assert '<input type="hidden" name="c1.v/skus" value="LIN">' in page
    assert "saved" in page


def test_a_draft_of_another_shape_is_no_draft(slot: LabelSlot, reviewer: User, as_user: AsUser):
    Draft.objects.create(revision=slot.revision, user=reviewer, document={"fields": [["tool"], 3, ["tool", 1]]})
    assert as_user(reviewer).get(url("label-slot", slot.pk)).status_code == 200


def test_ones_label_is_shown_again_to_be_changed(slot: LabelSlot, reviewer: User, as_user: AsUser):
    label_submit(slot=slot, actor=reviewer, expectation=returned(), rationale="Because.", flagged=True)
    page = body(as_user(reviewer).get(url("label-slot", slot.pk)))
    assert "Change the label" in page
    assert "Because." in page
    assert 'aria-pressed="true"' in page
    assert 'value="A-20418"' in page


def test_leaving_gives_the_example_back(slot: LabelSlot, reviewer: User, as_user: AsUser):
    response = as_user(reviewer).post(url("label-release", slot.pk))
    assert response.status_code == 302
    slot.refresh_from_db()
    assert slot.state == SlotState.OPEN


def test_a_slot_given_back_takes_no_draft(slot: LabelSlot, reviewer: User, as_user: AsUser):
    slot_release(slot=slot, actor=reviewer)
    assert as_user(reviewer).post(url("label-draft", slot.pk), fields()).status_code == 409


def test_the_pace_is_ones_own(dataset: Dataset, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    for number in range(2):
        slot = LabelSlot.objects.get(pk=client.get(url("label"))["Location"].split("/")[-2])
        label_submit(slot=slot, actor=reviewer, expectation=returned(f"A-{20418 + number}"), seconds=30)
    page = body(client.get(url("label"), follow=True))
    assert "2 of 3 labelled by you" in page
    assert "s each" not in page


REACTIONS = "Right reactions to the error"


def test_right_reactions_are_asked_for_where_the_conversation_shows_an_error(
    dataset: Dataset, slot: LabelSlot, reviewer: User, as_user: AsUser
):
    client, page = as_user(reviewer), url("label-slot", slot.pk)
    # Strata could tell the label: they open nothing.
    Example.objects.filter(dataset=dataset).update(bucket="error_recovery", error_class="timeout")
    assert REACTIONS not in body(client.get(page))
    Example.objects.filter(dataset=dataset).update(bucket="", error_class="")
    told = messages()
    told[3]["content"] = '{"error": "The request timed out."}'
    Revision.objects.filter(pk=slot.revision_id).update(input={"messages": told})
    assert REACTIONS in body(client.get(page))
