"""Handing in a label, passing an example on, and taking either back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client
from django.urls import reverse

from labeling.models import Draft, Label, LabelSlot, Skip, SlotState
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import fields, returned
from toolevals.grading.matching.equivalence import equivalent
from toolevals.grading.values import Expectation
from toolevals.workspace.models import Project, User

AsUser = Callable[[User], Client]


def url(name: str, *arguments: object) -> str:
    return reverse(f"labeling:{name}", args=["shop", *arguments])


def submitted(client: Client, slot: LabelSlot, swap: dict[str, str], **more: Any) -> Label:
    response = client.post(url("label-submit", slot.pk), fields(**more), headers=swap)
    assert response.status_code == 200, response.content
    return Label.objects.get(slot=slot)


def test_a_label_is_taken_and_the_next_example_comes(
    slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]
):
    client = as_user(reviewer)
    client.post(url("label-draft", slot.pk), fields())
    response = client.post(url("label-submit", slot.pk), fields(flagged="1"), headers=swap)
    label = Label.objects.get(slot=slot)
    assert equivalent(Expectation.from_document(label.expectation), Expectation.from_document(returned()))
    assert (label.rationale, label.flagged, label.seconds) == ("She named the card.", True, 41)
    assert not Draft.objects.exists()
    page = body(response)
    assert 'data-title="Label ex-1"' in page
    assert "Submitted ex-0." in page
    assert response.headers["HX-Push-Url"].startswith("/p/shop/label/")


def test_without_a_script_the_next_example_is_a_page_away(slot: LabelSlot, reviewer: User, as_user: AsUser):
    response = as_user(reviewer).post(url("label-submit", slot.pk), fields(scope="core"), follow=True)
    assert "Label ex-1" in body(response)
    assert response.redirect_chain[-1][0].endswith("?dataset=core")


def test_a_repeated_submit_is_one_label(slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]):
    client = as_user(reviewer)
    submitted(client, slot, swap)
    submitted(client, slot, swap)


def test_what_is_wrong_comes_back_by_field(slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]):
    response = as_user(reviewer).post(url("label-submit", slot.pk), fields(**{"c1.v/quantity": "none"}), headers=swap)
    assert response.status_code == 422
    assert response.json()["problems"] == [{"field": "c1/quantity", "message": "Not a whole number."}]
    assert not Label.objects.exists()


def test_an_answer_that_is_no_expectation_is_taken(
    slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]
):
    label = submitted(as_user(reviewer), slot, swap, tool="missing_tool", rationale="Nothing sends a gift.")
    assert (label.answer, label.expectation) == ("missing_tool", None)
    page = body(as_user(reviewer).get(url("label-slot", slot.pk)))
    assert 'value="missing_tool" checked' in page


def test_without_a_script_the_page_says_what_is_wrong(slot: LabelSlot, reviewer: User, as_user: AsUser):
    response = as_user(reviewer).post(url("label-submit", slot.pk), fields(**{"c1.v/quantity": "none"}))
    assert response.status_code == 422
    assert "Not a whole number." in body(response)
    assert 'value="none" inputmode' in body(response)


def test_the_last_label_leads_to_nothing_left(reviewer: User, as_user: AsUser, slot: LabelSlot, swap: dict[str, str]):
    LabelSlot.objects.exclude(pk=slot.pk).update(state=SlotState.CLOSED)
    response = as_user(reviewer).post(url("label-submit", slot.pk), fields(), headers=swap)
    page = body(response)
    assert "Nothing to label" in page
    assert "You have submitted 1 label, 1 of them today." in page
    assert "Submitted ex-0." in page
    assert response.headers["HX-Push-Url"] == url("label")


def test_undo_brings_the_example_back_as_it_was(slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]):
    client = as_user(reviewer)
    label = submitted(client, slot, swap)
    page = body(client.post(url("label-undo", label.pk), headers=swap))
    assert 'data-title="Label ex-0"' in page
    assert "She named the card." in page
    slot.refresh_from_db()
    assert slot.state == SlotState.CLAIMED
    label.refresh_from_db()
    assert label.withdrawn_at is not None


def test_undo_comes_too_late(project: Project, slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]):
    project.undo_seconds = 0
    project.save()
    client = as_user(reviewer)
    label = submitted(client, slot, swap)
    response = client.post(url("label-undo", label.pk), headers=swap)
    assert response.status_code == 409
    assert "passed" in response.json()["message"]


def test_nobody_takes_anothers_label_back(
    slot: LabelSlot, reviewer: User, second_reviewer: User, as_user: AsUser, swap: dict[str, str]
):
    label = submitted(as_user(reviewer), slot, swap)
    assert as_user(second_reviewer).post(url("label-undo", label.pk)).status_code == 404
    label.refresh_from_db()
    assert label.withdrawn_at is None


def test_skip_needs_a_reason_and_goes_on(slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]):
    client = as_user(reviewer)
    entered = {"reason": ["The example is broken", "no text "]}
    page = body(client.post(url("label-skip", slot.pk), entered, headers=swap))
    skip = Skip.objects.get(reviewer=reviewer)
    assert skip.reason == "The example is broken. no text"
    assert "Skipped ex-0. Another person will get it." in page
    assert 'data-title="Label ex-1"' in page
    page = body(client.post(url("skip-undo", skip.pk), headers=swap))
    assert 'data-title="Label ex-0"' in page
    skip.refresh_from_db()
    assert skip.undone_at is not None


def test_nobody_takes_anothers_skip_back(
    slot: LabelSlot, reviewer: User, second_reviewer: User, as_user: AsUser, swap: dict[str, str]
):
    as_user(reviewer).post(url("label-skip", slot.pk), {"reason": "x"}, headers=swap)
    skip = Skip.objects.get()
    assert as_user(second_reviewer).post(url("skip-undo", skip.pk)).status_code == 404


def test_what_was_labelled_cannot_be_skipped(slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]):
    client = as_user(reviewer)
    submitted(client, slot, swap)
    assert client.post(url("label-skip", slot.pk), {"reason": "x"}, headers=swap).status_code == 409
