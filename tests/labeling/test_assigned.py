"""Examples, disputes and issues are assigned to a person until a day; no third place comes of it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.services import dispute_assign, dispute_open, dispute_settle
from labeling.batches.services import Choice, slots_assign
from labeling.errors import InvalidAct
from labeling.label.open_tasks import counted
from labeling.models import LabelSlot, Revision
from reports.issues.models import Issue
from reports.issues.services import issue_own
from tests.labeling.conftest import *  # noqa: F403
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Role, User

SOON, PAST = date(2099, 1, 31), date(2020, 1, 31)


def text_of(client: Client, user: User, address: str = "/p/shop/") -> str:
    client.force_login(user)
    return " ".join(client.get(address).content.decode().split())


def test_kept_examples_are_found_with_the_day_when_they_are_due(client, dataset, examples, owner, ann, members):
    [ben] = members(1)
    names = [each.example.external_id for each in examples]
    assert slots_assign(dataset=dataset, actor=owner, person=ann, choice=Choice(names=names[:2]), due_on=SOON) == 2
    assert "2</a> <span>examples kept for you" in text_of(client, ann)
    assert 'due <time datetime="2099-01-31">31 Jan' in text_of(client, ann)
    assert "kept for you" not in text_of(client, ben)
    # Again, one more and overdue: no second place of an example is kept for the same person.
    assert slots_assign(dataset=dataset, actor=owner, person=ann, choice=Choice(names=names), due_on=PAST) == 1
    assert "overdue since" in text_of(client, ann)
    assert LabelSlot.objects.filter(assignee=ann, due_on=PAST).count() == 3
    # Two people label each: there is no third place for anyone.
    assert LabelSlot.objects.filter(revision=examples[0]).count() == 2
    [carl] = members(1)
    assert slots_assign(dataset=dataset, actor=owner, person=ben, choice=Choice(names=names[:1])) == 1
    assert slots_assign(dataset=dataset, actor=owner, person=carl, choice=Choice(names=names[:1])) == 0
    assert LabelSlot.objects.filter(revision=examples[0]).count() == 2
    assert names[2] not in text_of(client, ben, "/p/shop/datasets/support/?kept=me")
    assert names[0] in text_of(client, ben, "/p/shop/datasets/support/?kept=me")


def test_a_day_is_given_with_the_bulk_act_and_by_rest(client, dataset, examples, owner, ann):
    client.force_login(owner)
    pk = str(examples[0].example_id)
    page = reverse("labeling:examples-act", args=["shop", "support"])
    sent = {"act": "assign", "example": pk, "person": str(ann.pk), "due_on": "2099-01-31"}
    assert client.post(page, sent).status_code == 302
    assert LabelSlot.objects.get(assignee=ann).due_on == SOON
    by_rest = {"person": str(ann.pk), "external_ids": [examples[1].example.external_id], "due_on": "2099-01-31"}
    address = reverse("labeling-api:assignments", args=["shop", "support"])
    assert client.post(address, by_rest, content_type="application/json").json() == {"examples": 1}
    assert LabelSlot.objects.filter(assignee=ann, due_on=SOON).count() == 2


@pytest.fixture
def dispute(examples, ann):
    Revision.objects.filter(pk=examples[0].pk).update(resolution="resolved")
    return dispute_open(revision=examples[0], actor=ann, reason="It is not.")


def test_a_dispute_is_assigned_to_who_may_decide_it(client, project, dispute, owner, ann, adjudicator):
    with pytest.raises(InvalidAct, match="does not adjudicate"):
        dispute_assign(dispute=dispute, actor=owner, person=ann)
    project.memberships.filter(user=ann).update(role=Role.ADJUDICATOR)
    with pytest.raises(InvalidAct, match="disputes its gold"):
        dispute_assign(dispute=dispute, actor=owner, person=ann)
    example = dispute.revision.example
    client.force_login(owner)
    address = reverse("labeling:dispute-assign", args=["shop", "support", example.pk, dispute.pk])
    client.post(address, {"person": str(adjudicator.pk), "due_on": "2099-01-31"})
    assert "1</a> <span>dispute assigned to you" in text_of(client, adjudicator)
    assert example.external_id in text_of(client, adjudicator, "/p/shop/adjudicate/?list&assigned=me")
    assert example.external_id not in text_of(client, owner, "/p/shop/adjudicate/?list&assigned=me")
    assert example.external_id in text_of(client, owner, "/p/shop/adjudicate/?list")
    assert AuditEntry.objects.filter(verb="dispute_assign", target_id=dispute.pk).count() == 1
    rest = reverse("labeling-api:dispute-assignment", args=["shop", dispute.pk])
    answer = client.put(rest, {"person": str(owner.pk)}, content_type="application/json").json()
    assert (answer["assignee"], answer["due_on"]) == ("Owner", None)
    dispute_settle(dispute=dispute, actor=adjudicator)
    assert counted(project, owner, Role.OWNER)["assigned_disputes"] == 0
    with pytest.raises(InvalidAct, match="is settled"):
        dispute_assign(dispute=dispute, actor=owner, person=adjudicator)


def test_an_issue_is_owned_until_a_day(client, project, owner, viewer):
    now = database_now()
    issue = Issue.objects.create(
        project=project, key="k", name="Wrong tool", kind="wrong_tool", layer="selection", mode="other_tool",
        first_seen=now - timedelta(days=1), last_seen=now,
    )  # fmt: skip
    issue_own(issue=issue, actor=owner, owner=viewer, due_on=PAST)
    page = text_of(client, viewer)
    assert ("1</a> <span>issue of yours" in page, "overdue since" in page) == (True, True)
    assert "Wrong tool" in text_of(client, viewer, "/p/shop/issues/?owner=me")
    assert "Wrong tool" not in text_of(client, owner, "/p/shop/issues/?owner=me")
    client.force_login(owner)
    own = reverse("reports-api:issue-own", args=["shop", issue.pk])
    sent = {"owner": str(owner.pk), "due_on": "2099-01-31"}
    client.post(own, sent, content_type="application/json", headers={"Idempotency-Key": "k"})
    issue.refresh_from_db()
    assert (issue.owner, issue.due_on) == (owner, SOON)
    issue_own(issue=issue, actor=owner, owner=None, due_on=SOON)
    issue.refresh_from_db()
    assert (issue.owner, issue.due_on) == (None, None)
