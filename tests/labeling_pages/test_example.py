"""An example's page: what it shows to whom, and disputing its gold."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.services import adjudication_decide
from labeling.models import Dispute, Revision
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import returned
from toolevals.workspace.models import User

AsUser = Callable[[User], Client]


def page_url(revision: Revision, act: str = "example") -> str:
    return reverse(f"labeling:{act}", args=["shop", "core", revision.example_id])


@pytest.fixture
def resolved(disagreed: Revision, owner: User) -> Revision:
    adjudication_decide(revision=disagreed, actor=owner, expectation=returned(), rationale="The guideline says so.")
    disagreed.refresh_from_db()
    return disagreed


@pytest.mark.parametrize("who", ["viewer", "second_reviewer", "adjudicator", "owner"])
def test_labels_are_hidden_until_resolved(
    disagreed: Revision, who: str, request: pytest.FixtureRequest, reviewer: User, as_user: AsUser
):
    page = body(as_user(request.getfixturevalue(who)).get(page_url(disagreed)))
    assert reviewer.name not in page.replace("Reviewer</span>", "")
    assert "She named the card." not in page
    assert "No gold yet." in page


def test_reviewers_see_their_own_label_only(disagreed: Revision, reviewer: User, as_user: AsUser):
    page = body(as_user(reviewer).get(page_url(disagreed)))
    assert "She named the card." in page
    assert "Policy." not in page
    assert "labels differ" not in page
    assert "to adjudicate" not in page


def test_afterwards_everybody_sees_who_said_what(resolved: Revision, viewer: User, reviewer: User, as_user: AsUser):
    page = body(as_user(viewer).get(page_url(resolved)))
    assert f'<span class="strong">{reviewer.name}</span> labelled' in page
    assert "Policy." in page
    assert "The guideline says so." in page
    assert "Adjudicated" in page
    assert ">Dispute<" not in page


def test_the_gold_is_disputed(resolved: Revision, second_reviewer: User, adjudicator: User, as_user: AsUser):
    client = as_user(second_reviewer)
    assert ">Dispute<" in body(client.get(page_url(resolved)))
    client.post(page_url(resolved, "dispute"), {"reason": "It must be express."})
    assert Dispute.objects.get().actor == second_reviewer
    assert "It must be express." in body(client.get(page_url(resolved)))
    assert "Adjudicate</a>" in body(as_user(adjudicator).get(page_url(resolved)))


def test_a_dispute_needs_a_reason_and_gold(resolved: Revision, second_reviewer: User, as_user: AsUser):
    client = as_user(second_reviewer)
    assert client.post(page_url(resolved, "dispute"), {"reason": " "}).status_code == 422
    other = Revision.objects.exclude(pk=resolved.pk).first()
    assert other is not None
    response = client.post(page_url(other, "dispute"), {"reason": "Wrong."})
    assert response.status_code == 422
    assert not Dispute.objects.exists()


def test_roles(resolved: Revision, viewer: User, outsider: User, as_user: AsUser):
    assert as_user(viewer).post(page_url(resolved, "dispute"), {"reason": "x"}).status_code == 403
    assert as_user(outsider).get(page_url(resolved)).status_code == 404


def test_a_revision_that_is_not_there(resolved: Revision, viewer: User, as_user: AsUser):
    client = as_user(viewer)
    assert client.get(page_url(resolved) + "?revision=1").status_code == 200
    assert client.get(page_url(resolved) + "?revision=7").status_code == 404
