"""Answers, reopening, restoring, setting aside and taking back through REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from labeling.adjudicate.services import adjudication_decide
from labeling.label.claims import slot_claim
from labeling.models import Gold, Label, Resolution, Revision
from tests.labeling.rows import NO_CALL, call
from toolevals.workspace.models import User

API = "/api/v1/projects/shop"


def as_user(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def send(user: User, path: str, document: Any) -> Any:
    return as_user(user).post(API + path, document, content_type="application/json")


@pytest.fixture
def differing(dataset, examples, ann, ben, submit) -> Revision:
    submit(ann, call())
    submit(ben, NO_CALL)
    revision: Revision = examples[0]
    return revision


def test_an_answer_is_a_label(dataset, examples, ann):
    slot = slot_claim(dataset_or_project=dataset, actor=ann)
    assert slot is not None
    answered = send(ann, f"/claims/{slot.pk}/label/", {"answer": "ambiguous", "rationale": "Two orders."})
    assert answered.status_code == 201
    said = answered.json()
    assert (said["answer"], said["expectation"], said["round"]) == ("ambiguous", None, 1)
    assert Label.objects.get().answer == "ambiguous"
    refused = send(ann, f"/claims/{slot.pk}/label/", {"answer": "bored"})
    assert refused.status_code == 422


def test_an_example_is_set_aside_and_that_is_taken_back(differing, adjudicator):
    path = f"/adjudications/{differing.pk}/"
    made = send(adjudicator, path + "set-aside/", {"answer": "missing_tool", "rationale": "No tool refunds."})
    assert made.status_code == 201
    assert made.json()["gold"] is None
    back = as_user(adjudicator).delete(API + path)
    assert back.json()["withdrawn_at"] is not None
    differing.refresh_from_db()
    assert differing.resolution == Resolution.DISAGREED


def test_reopening_hides_the_gold_from_those_who_labelled_and_restoring_shows_it(differing, adjudicator, ann):
    gold = adjudication_decide(revision=differing, actor=adjudicator, expectation=call(), rationale="So.")
    assert send(ann, f"/examples/{differing.example_id}/reopen/", {"reason": "x"}).status_code == 403
    assert send(adjudicator, f"/examples/{differing.example_id}/reopen/", {"reason": "Again"}).status_code == 200
    assert send(adjudicator, f"/examples/{differing.example_id}/reopen/", {"reason": "Again"}).status_code == 409
    golds = f"{API}/examples/{differing.example_id}/golds/"
    assert as_user(ann).get(golds).json()["results"] == []
    assert len(as_user(adjudicator).get(golds).json()["results"]) == 1
    restored = send(adjudicator, f"/golds/{gold.pk}/restore/", {"reason": "It was right."})
    assert (restored.status_code, restored.json()["source"]) == (201, "restored")
    assert len(as_user(ann).get(golds).json()["results"]) == Gold.objects.count() == 2


def test_feedback_is_its_readers_own(differing, adjudicator, ann, ben):
    adjudication_decide(revision=differing, actor=adjudicator, expectation=call(), rationale="Read it.")
    (told,) = as_user(ben).get(f"{API}/feedback/").json()["results"]
    assert (told["differs"], told["expectation"], told["rationale"]) == (True, call(), "Read it.")
    (mine,) = as_user(ann).get(f"{API}/feedback/").json()["results"]
    assert mine["differs"] is False
