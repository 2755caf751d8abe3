"""Deciding beyond two sides: both right, set aside, passed on, several answers, taking back; reopening and feedback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.resolution import revision_evaluate, revision_locked
from labeling.adjudicate.services import adjudication_decide
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Adjudication, Dataset, Gold, Label, Resolution, Revision, Skip
from tests.fixtures.people import person
from tests.labeling.windows import differing_compared
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import returned, row
from tests.labeling_pages.test_adjudicate import choices, url
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.projects.services import member_set

AsUser = Callable[[User], Client]


@pytest.fixture
def client(adjudicator: User, as_user: AsUser) -> Client:
    return as_user(adjudicator)


def of_example(name: str, revision: Revision, *more: object) -> str:
    return reverse(f"labeling:{name}", args=["shop", "core", revision.example_id, *more])


def test_both_are_right_as_alternatives(disagreed: Revision, client: Client):
    entered = choices(refund_to="both", express="left") | {"rationale": "Both readings are fair."}
    client.post(url("adjudicate-decide", disagreed.pk), entered)
    disagreed.refresh_from_db()
    assert disagreed.gold is not None
    said = [one["ordered"][0]["arguments"]["refund_to"]["exact"] for one in disagreed.gold.expectation["alternatives"]]
    assert sorted(said) == ["original payment", "store credit"]


def test_it_is_set_aside_and_that_is_taken_back(disagreed: Revision, client: Client, swap: dict[str, str]):
    shown = client.post(url("adjudicate-outcome", disagreed.pk), choices() | {"to": "aside", "aside": "ambiguous"})
    assert "No gold will be set" in body(shown)
    entered = {"mode": "aside", "aside": "ambiguous", "rationale": "Which order?"}
    response = client.post(url("adjudicate-decide", disagreed.pk), entered, headers=swap)
    made = Adjudication.objects.get()
    assert "Set aside ex-0." in body(response)
    assert url("adjudicate-undo", made.pk) in body(response)
    disagreed.refresh_from_db()
    assert (disagreed.resolution, disagreed.set_aside_as) == (Resolution.SET_ASIDE, "ambiguous")
    again = client.post(url("adjudicate-undo", made.pk), headers=swap)
    assert "2 differences" in body(again)
    disagreed.refresh_from_db()
    assert disagreed.resolution == Resolution.DISAGREED


def test_nobody_takes_back_anothers_decision(disagreed: Revision, owner: User, client: Client):
    adjudication_decide(revision=disagreed, actor=owner, expectation=returned(), rationale="So.")
    assert client.post(url("adjudicate-undo", Adjudication.objects.get().pk)).status_code == 404


def test_labels_that_changed_since_are_not_decided_unseen(
    disagreed: Revision, client: Client, reviewer: User, swap: dict[str, str]
):
    page = body(client.get(url("adjudicate-revision", disagreed.pk)))
    token = page.split('name="of" value="')[1].split('"')[0]
    slot = Label.objects.get(reviewer=reviewer).slot
    label_submit(slot=slot, actor=reviewer, expectation=returned(express={"exact": False}))
    entered = choices(refund_to="left", express="left") | {"of": token, "rationale": "So."}
    assert client.post(url("adjudicate-decide", disagreed.pk), entered, headers=swap).status_code == 409
    assert not Gold.objects.exists()


def test_what_people_passed_on_shows_why_without_names(
    dataset: Dataset, client: Client, reviewer: User, second_reviewer: User
):
    revision = Revision.objects.filter(example__dataset=dataset).order_by("id")[0]
    for user in (reviewer, second_reviewer):
        Skip.objects.create(revision=revision, reviewer=user, reason=f"Unclear <b>{user.pk}</b>")
    revision_evaluate(revision_locked(revision.pk))
    page = body(client.get(url("adjudicate-revision", revision.pk)))
    assert "2 people skipped this example" in page
    assert "Unclear &lt;b&gt;" in page
    assert reviewer.name not in page
    assert second_reviewer.name not in page
    assert "Find a tool" in page
    entered = {"mode": "json", "json": '{"kind": "no_call", "why": "refusal"}', "rationale": "None fits."}
    client.post(url("adjudicate-decide", revision.pk), entered)
    revision.refresh_from_db()
    assert revision.resolution == Resolution.RESOLVED


@pytest.fixture
def three_answers(project: Project, dataset: Dataset) -> Revision:
    project.labels_wanted = 4
    project.save()
    dataset.project = project
    examples_import(dataset=dataset, actor=None, rows=[read_example(row(7))])
    revision = Revision.objects.get(example__external_id="ex-7")
    said = ["original payment", "original payment", "store credit", None]
    for place, value in enumerate(said):
        user = person(f"Labeller{place}")
        member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
        while (slot := slot_claim(dataset_or_project=dataset, actor=user)) is not None:
            told: dict[str, Any] = {"answer": "ambiguous"}
            if value is not None:
                told = {"expectation": returned(refund_to={"exact": value})}
            differing_compared(label_submit(slot=slot, actor=user, **told).revision)
    return revision


def test_several_answers_are_grouped_and_compared_two_at_a_time(three_answers: Revision, client: Client):
    page = body(client.get(url("adjudicate-revision", three_answers.pk)))
    assert "3 answers" in page
    assert "2 ×" in page
    address = url("adjudicate-revision", three_answers.pk)
    titles = [body(client.get(f"{address}?left=0&right={right}")) for right in (1, 2)]
    assert sum("ambiguous: more than one reading" in title.split('class="compare')[1] for title in titles) == 1


@pytest.fixture
def resolved(disagreed: Revision, adjudicator: User) -> Revision:
    adjudication_decide(revision=disagreed, actor=adjudicator, expectation=returned(), rationale="She named it.")
    disagreed.refresh_from_db()
    return disagreed


def test_reopened_and_restored_on_the_examples_page(
    resolved: Revision, client: Client, second_reviewer: User, as_user: AsUser
):
    gold = resolved.gold
    assert gold is not None
    assert client.post(of_example("reopen", resolved), {"reopen-reason": " "}).status_code == 422
    client.post(of_example("reopen", resolved), {"reopen-reason": "The guideline changed."})
    resolved.refresh_from_db()
    assert (resolved.round, resolved.gold) == (2, None)
    page = body(client.get(of_example("example", resolved)))
    assert "round 2" in page
    assert "The guideline changed." in page
    assert "Restore this gold" in page
    reviewers = body(as_user(second_reviewer).get(of_example("example", resolved)))
    assert "reopened labelling" in reviewers
    for hidden in ("The guideline changed.", "She named the card.", "She named it."):
        assert hidden not in reviewers
    assert "Policy." in reviewers
    client.post(of_example("gold-restore", resolved, gold.pk), {"reason": "It was right."})
    resolved.refresh_from_db()
    assert resolved.resolution == Resolution.RESOLVED
    assert "restored earlier gold" in body(as_user(second_reviewer).get(of_example("example", resolved)))


def test_reviewers_do_not_reopen_or_restore(resolved: Revision, second_reviewer: User, as_user: AsUser):
    client = as_user(second_reviewer)
    assert client.post(of_example("reopen", resolved), {"reopen-reason": "x"}).status_code == 403
    assert client.post(of_example("gold-restore", resolved, resolved.gold_id), {"reason": "x"}).status_code == 403


def test_a_dispute_begins_with_the_reason_of_a_link(resolved: Revision, second_reviewer: User, as_user: AsUser):
    page = body(as_user(second_reviewer).get(of_example("dispute", resolved) + "?reason=Case+12+failed+%3Cb%3E"))
    assert "Case 12 failed &lt;b&gt;" in page


def test_reviewers_read_what_came_of_their_labels(
    resolved: Revision, reviewer: User, second_reviewer: User, as_user: AsUser
):
    client = as_user(second_reviewer)
    page = body(client.get(url("feedback")))
    assert "She named it." in page
    assert "store" in page
    assert "1 new" in page
    client.post(url("feedback-seen"))
    assert "no new feedback" in body(client.get(url("feedback")))
    first = as_user(reviewer)
    assert "All decisions agree" in body(first.get(url("feedback")))
    assert "ex-0" in body(first.get(url("feedback") + "?same"))
