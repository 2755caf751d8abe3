"""Beside an example: questions, guidelines with tools and solved examples, suggestions, staying and leaving."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from labeling.guidelines.services import guideline_publish
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim, slot_release
from labeling.label.services import SuggestionRow, suggestions_store
from labeling.models import Comment, Dataset, Draft, Label, LabelSlot, Revision, SlotState, Suggestion
from labeling.questions.services import comment_add
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import fields, returned, row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

AsUser = Callable[[User], Client]
ASKED = "Does the next day count?"


def url(name: str, *arguments: object) -> str:
    return reverse(f"labeling:{name}", args=["shop", *arguments])


@pytest.fixture
def asked(slot: LabelSlot, reviewer: User) -> Comment:
    """The reviewer asks about the example that they hold."""
    return comment_add(revision=slot.revision, asker=reviewer, actor=reviewer, text=ASKED)


def test_a_question_is_asked_and_shown_beside_the_example(
    slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]
):
    client = as_user(reviewer)
    assert "Ask and skip" in body(client.get(url("thread", slot.revision_id), headers=swap))
    sent = {"about": "own", "comment:own": ASKED}
    response = client.post(url("comment-add", slot.revision_id), sent, headers=swap)
    assert response.status_code == 200
    assert ASKED in body(response)
    assert Comment.objects.get().asker == reviewer


def test_nothing_asked_is_said(slot: LabelSlot, reviewer: User, as_user: AsUser, swap: dict[str, str]):
    response = as_user(reviewer).post(url("comment-add", slot.revision_id), {"about": "own"}, headers=swap)
    assert response.status_code == 422
    assert "Write something first." in body(response)


def test_adjudicators_read_and_answer_without_a_name(
    asked: Comment, reviewer: User, adjudicator: User, second_reviewer: User, as_user: AsUser
):
    chief = as_user(adjudicator)
    listed = body(chief.get(url("questions")))
    assert url("thread", asked.revision_id) in listed
    assert ASKED not in listed
    page = body(chief.get(url("thread", asked.revision_id)))
    assert ASKED in page
    assert "A reviewer" in page
    assert reviewer.name not in page.split('<main id="main"')[1]
    answer = {"about": str(asked.pk), f"comment:{asked.pk}": "It does."}
    assert chief.post(url("comment-add", asked.revision_id), answer).status_code == 302
    mine = body(as_user(reviewer).get(url("questions")))
    assert "<strong>answered</strong>" in mine
    thread = body(as_user(reviewer).get(url("thread", asked.revision_id)))
    assert "It does." in thread
    assert "An adjudicator" in thread
    assert ASKED not in body(as_user(second_reviewer).get(url("thread", asked.revision_id)))


def test_another_reviewers_thread_cannot_be_added_to(asked: Comment, second_reviewer: User, as_user: AsUser):
    sent = {"about": str(asked.pk), f"comment:{asked.pk}": "Me too."}
    assert as_user(second_reviewer).post(url("comment-add", asked.revision_id), sent).status_code == 404
    assert Comment.objects.count() == 1


def test_answers_are_told_while_one_works(
    asked: Comment, slot: LabelSlot, reviewer: User, adjudicator: User, as_user: AsUser
):
    client = as_user(reviewer)
    assert client.post(url("label-renew", slot.pk)).json() == {"answers": 0, "ahead": False}
    comment_add(revision=slot.revision, asker=reviewer, actor=adjudicator, text="It does.")
    assert client.post(url("label-renew", slot.pk)).json() == {"answers": 1, "ahead": False}


def test_the_guideline_pane_has_tools_and_solved_examples_but_not_what_is_open(
    dataset: Dataset, slot: LabelSlot, disagreed: Revision, second_reviewer: User, as_user: AsUser
):
    guideline_publish(dataset=dataset, actor=None, text="Read twice.", note="Shorter")
    gold = {"expectation": returned("A-9"), "rationale": "Goods go back first."}
    examples_import(dataset=dataset, actor=None, rows=[read_example(row(80, **gold))])
    page = body(as_user(second_reviewer).get(url("guide", slot.revision_id)))
    assert "Read twice." in page
    assert "Shorter" in page
    assert "Such as A-20418" in page
    assert "pickup.date" in page
    assert "Goods go back first." in page
    assert "She named the card." not in page


def test_a_guideline_is_published_and_compared(dataset: Dataset, adjudicator: User, reviewer: User, as_user: AsUser):
    chief = as_user(adjudicator)
    address = url("guideline", "core")
    assert chief.post(address, {"text": dataset.guideline + "\n<b>New</b>", "note": "A line"}).status_code == 302
    page = body(as_user(reviewer).get(address))
    assert "<ins>&lt;b&gt;New&lt;/b&gt;</ins>" in page
    assert "<span># Dates</span>" in page
    assert "Publish" not in page
    assert "Version 2" in body(chief.get(address)) or "version 2" in body(chief.get(address))
    assert "Changes of version 1" not in body(chief.get(address + "?version=1"))
    assert as_user(reviewer).post(address, {"text": "Mine"}).status_code == 403


@pytest.fixture
def suggested(slot: LabelSlot, dataset: Dataset) -> Suggestion:
    """A model suggests a return."""
    suggestions_store(dataset=dataset, actor=None, rows=[SuggestionRow("ex-0", returned(), "model-a, prompt 3")])
    return Suggestion.objects.get()


def test_suggestions_are_not_shown_unless_the_project_wants_them(
    suggested: Suggestion, slot: LabelSlot, reviewer: User, as_user: AsUser
):
    client = as_user(reviewer)
    assert "model-a" not in body(client.get(url("label-slot", slot.pk)))
    client.post(url("label-submit", slot.pk), fields(suggestion_seen="1"))
    assert Label.objects.get().suggestion is None


def test_a_suggestion_that_was_seen_is_kept_with_the_label(
    suggested: Suggestion, slot: LabelSlot, project: Project, reviewer: User, as_user: AsUser
):
    Project.objects.filter(pk=project.pk).update(suggestions=True)
    client = as_user(reviewer)
    assert "model-a, prompt 3" in body(client.get(url("label-slot", slot.pk)))
    pane = body(client.post(url("label-panel", slot.pk), {"to": "suggestion"}))
    assert 'data-choice="1"' in pane
    assert 'value="A-20418"' in pane
    client.post(url("label-submit", slot.pk), fields(suggestion_seen="1"))
    assert Label.objects.get().suggestion["source"] == "model-a, prompt 3"


def test_a_suggestion_that_was_not_looked_at_is_not_kept(
    suggested: Suggestion, slot: LabelSlot, project: Project, reviewer: User, as_user: AsUser
):
    Project.objects.filter(pk=project.pk).update(suggestions=True)
    as_user(reviewer).post(url("label-submit", slot.pk), fields())
    assert Label.objects.get().suggestion is None


def test_suggestions_come_in_by_the_api(dataset: Dataset, adjudicator: User, reviewer: User, as_user: AsUser):
    address = "/api/v1/projects/shop/datasets/core/suggestions/"
    sent = {"by": "model-a", "suggestions": [{"id": "ex-0", "expectation": returned()}]}
    assert as_user(reviewer).post(address, sent, content_type="application/json").status_code == 403
    response = as_user(adjudicator).post(address, sent, content_type="application/json")
    assert (response.status_code, response.json()) == (201, {"stored": 1})


def test_who_leaves_holds_their_claim_for_a_minute(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    assert client.post(url("label-leave", slot.pk)).status_code == 204
    slot.refresh_from_db()
    assert slot.state == SlotState.CLAIMED
    assert slot.lease_until is not None
    assert slot.lease_until <= database_now() + timedelta(seconds=60)
    client.get(url("label-slot", slot.pk))
    slot.refresh_from_db()
    assert slot.lease_until > database_now() + timedelta(minutes=5)


def test_who_comes_back_late_goes_on_with_what_they_had_begun(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    client.post(url("label-draft", slot.pk), fields())
    slot_release(slot=slot, actor=reviewer)
    assert client.post(url("label-submit", slot.pk), fields()).status_code == 302
    assert Label.objects.get().reviewer == reviewer
    assert not Draft.objects.filter(user=reviewer).exists()


def test_a_page_of_somebody_who_signed_out_acts_for_nobody(
    slot: LabelSlot, reviewer: User, second_reviewer: User, as_user: AsUser
):
    headers = {"HX-Request": "true", "X-Person": str(reviewer.pk)}
    response = as_user(second_reviewer).post(url("label-submit", slot.pk), fields(), headers=headers)
    assert (response.status_code, response.json()["code"]) == (401, "another_person")
    assert "X-Accepted" not in response
    assert not Label.objects.exists()


def test_what_can_be_copied_as_json_is_exact(dataset: Dataset, slot: LabelSlot, reviewer: User, as_user: AsUser):
    page = body(as_user(reviewer).get(url("label-slot", slot.pk)))
    assert "&quot;total&quot;: 98.00" in page


def test_an_answering_adjudicator_is_not_offered_the_example(
    asked: Comment, dataset: Dataset, reviewer: User, adjudicator: User
):
    comment_add(revision=asked.revision, asker=reviewer, actor=adjudicator, text="It does.")
    claimed = slot_claim(dataset_or_project=dataset, actor=adjudicator)
    assert claimed is not None
    assert claimed.revision_id != asked.revision_id
