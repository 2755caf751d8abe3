"""The server acknowledges by its id what the work pages send by script, and takes it once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.services import dispute_open
from labeling.models import Adjudication, Comment, Dispute, Label, LabelSlot, Revision, Skip
from tests.labeling_pages.shop import fields
from toolevals.workspace.idempotency.submissions import AlreadyTaken, submission_is_taken, submission_once
from toolevals.workspace.models import User

AsUser = Callable[[User], Client]
ID = "0123456789abcdef" * 2


def url(name: str, *arguments: object) -> str:
    return reverse(f"labeling:{name}", args=["shop", *arguments])


def sent(number: int = 0) -> dict[str, str]:
    return {"HX-Request": "true", "X-Submission": f"{ID[:-1]}{number}"}


def test_a_label_is_acknowledged_and_a_refusal_is_not(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    address = url("label-submit", slot.pk)
    refused = client.post(address, fields(**{"c1.v/order_id": ""}), headers=sent())
    assert (refused.status_code, "X-Accepted" in refused) == (422, False)
    taken = client.post(address, fields(), headers=sent(1))
    assert (taken.status_code, taken["X-Accepted"]) == (200, sent(1)["X-Submission"])
    assert "X-Accepted" not in client.post(address, fields(), headers={"HX-Request": "true"})
    hostile = {"HX-Request": "true", "X-Submission": "<script>"}
    assert "X-Accepted" not in client.post(address, fields(), headers=hostile)


def test_a_draft_is_acknowledged(slot: LabelSlot, reviewer: User, as_user: AsUser):
    assert as_user(reviewer).post(url("label-draft", slot.pk), fields(), headers=sent())["X-Accepted"]


def test_the_acknowledgement_says_nothing_of_what_others_said(
    slot: LabelSlot, reviewer: User, second_reviewer: User, as_user: AsUser
):
    first = as_user(reviewer).post(url("label-submit", slot.pk), fields(), headers=sent())
    other = as_user(second_reviewer)
    page = other.get(url("label"), follow=True)
    address = page.redirect_chain[-1][0].split("?")[0] + "submit/"
    second = other.post(address, fields(refund="store credit"), headers=sent())
    headers = [{name for name in answer.headers if name.startswith("X-")} for answer in (first, second)]
    assert headers[0] == headers[1]
    assert first["X-Accepted"] == second["X-Accepted"]


def test_a_skip_whose_answer_was_lost_is_one_skip(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    for _ in range(2):
        answer = client.post(url("label-skip", slot.pk), {"reason": "Unclear"}, headers=sent())
        assert (answer.status_code, answer["X-Accepted"]) == (200, ID[:-1] + "0")
    assert Skip.objects.count() == 1


def test_a_question_whose_answer_was_lost_is_one_question(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    asked = {"about": "own", "comment:own": "Does Thursday count?"}
    for _ in range(2):
        assert client.post(url("comment-add", slot.revision_id), asked, headers=sent())["X-Accepted"]
    assert Comment.objects.count() == 1
    client.post(url("comment-add", slot.revision_id), asked, headers=sent(1))
    assert Comment.objects.count() == 2
    refused = client.post(url("comment-add", slot.revision_id), {"about": "own"}, headers=sent(2))
    assert (refused.status_code, "X-Accepted" in refused) == (422, False)


def test_a_decision_whose_answer_was_lost_is_acknowledged_and_made_once(
    disagreed: Revision, adjudicator: User, as_user: AsUser
):
    client = as_user(adjudicator)
    entered = {"mode": "aside", "aside": "ambiguous", "rationale": "Both are fair."}
    for _ in range(2):
        answer = client.post(url("adjudicate-decide", disagreed.pk), entered, headers=sent())
        assert (answer.status_code, answer["X-Accepted"]) == (200, ID[:-1] + "0")
    assert Adjudication.objects.count() == 1
    late = client.post(url("adjudicate-decide", disagreed.pk), entered, headers=sent(1))
    assert (late.status_code, "X-Accepted" in late) == (409, False)


def test_a_disputed_gold_is_kept_once(
    disagreed: Revision, adjudicator: User, reviewer: User, owner: User, as_user: AsUser
):
    client = as_user(adjudicator)
    entered = {"mode": "aside", "aside": "ambiguous", "rationale": "Both are fair."}
    client.post(url("adjudicate-decide", disagreed.pk), entered, headers=sent())
    disagreed.refresh_from_db()
    dispute_open(revision=disagreed, actor=reviewer, reason="It is not.")
    for _ in range(2):
        assert client.post(url("adjudicate-keep", disagreed.pk), headers=sent(1))["X-Accepted"]
    assert Dispute.objects.get().settled_at is not None


def test_a_decision_taken_back_is_acknowledged_without_a_redirect(
    disagreed: Revision, adjudicator: User, as_user: AsUser
):
    client = as_user(adjudicator)
    entered = {"mode": "aside", "aside": "ambiguous", "rationale": "Both are fair."}
    client.post(url("adjudicate-decide", disagreed.pk), entered, headers=sent())
    made = Adjudication.objects.get()
    for number in (1, 2):
        assert client.post(url("adjudicate-undo", made.pk), headers=sent(number))["X-Accepted"]


def test_an_id_is_committed_with_what_was_done_or_not_at_all(slot: LabelSlot, reviewer: User):
    project = slot.revision.example.dataset.project
    with (
        pytest.raises(RuntimeError, match="midway"),
        submission_once(project=project, actor=reviewer, submission=ID),
    ):
        raise RuntimeError("midway")
    assert not submission_is_taken(project=project, actor=reviewer, submission=ID)
    with submission_once(project=project, actor=reviewer, submission=ID):
        Label.objects.none()
    assert submission_is_taken(project=project, actor=reviewer, submission=ID)
    with pytest.raises(AlreadyTaken), submission_once(project=project, actor=reviewer, submission=ID):
        pytest.fail("this was done already")
