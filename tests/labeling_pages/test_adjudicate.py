"""The adjudication page: who sees what, what is chosen, the decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.services import adjudication_decide, dispute_open
from labeling.models import Adjudication, Dispute, Draft, Gold, Label, Revision
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import fields, returned
from toolevals.workspace.models import User

AsUser = Callable[[User], Client]
CALL = "/alternatives/0/ordered/0/arguments"


def url(name: str, *arguments: object) -> str:
    return reverse(f"labeling:{name}", args=["shop", *arguments])


def choices(**sides: str) -> dict[str, str]:
    return {"mode": "sides", **{f"choice:{CALL}/{name}": side for name, side in sides.items()}}


@pytest.fixture
def client(adjudicator: User, as_user: AsUser) -> Client:
    return as_user(adjudicator)


def test_the_first_example_that_differs_is_shown(disagreed: Revision, client: Client):
    response = client.get(url("adjudicate"), follow=True)
    assert response.redirect_chain[-1][0] == url("adjudicate-revision", disagreed.pk)
    page = body(response)
    assert "2 differences" in page
    assert "She named the card." in page
    assert "with the same" in page


def test_the_sides_have_no_names(disagreed: Revision, client: Client, reviewer: User, second_reviewer: User):
    page = body(client.get(url("adjudicate-revision", disagreed.pk)))
    assert reviewer.name not in page
    assert second_reviewer.name not in page


def test_no_side_says_how_long_it_took(disagreed: Revision, client: Client):
    before = body(client.get(url("adjudicate-revision", disagreed.pk))).split('<div class="column-head">')[1:]
    for label, seconds in zip(Label.objects.order_by("pk"), (38.2, 111.6), strict=True):
        Label.objects.filter(pk=label.pk).update(seconds=seconds)
    after = body(client.get(url("adjudicate-revision", disagreed.pk))).split('<div class="column-head">')[1:]
    assert [head.split("</div>")[0] for head in after] == [head.split("</div>")[0] for head in before]


def test_the_list(disagreed: Revision, client: Client):
    page = body(client.get(url("adjudicate") + "?list"))
    assert "ex-0" in page
    assert "labels differ" in page


def test_nothing_to_decide_is_said(client: Client):
    assert "Nothing to adjudicate" in body(client.get(url("adjudicate")))


def test_an_owner_of_a_team_of_two_is_told_where_to_let_them_decide(
    client: Client, owner: User, as_user: AsUser, project: Any
):
    settings = reverse("labeling:labelling-settings", args=["shop"])
    assert settings not in body(client.get(url("adjudicate")))
    assert settings in body(as_user(owner).get(url("adjudicate")))
    project.decide_own = True
    project.save()
    page = body(as_user(owner).get(url("adjudicate")))
    assert "Nothing to adjudicate" in page
    assert settings not in page
    assert "goes to someone else" not in page


def test_nobody_decides_what_they_labelled(disagreed: Revision, reviewer: User, as_user: AsUser, project: Any):
    project.memberships.filter(user=reviewer).update(role=30)
    client = as_user(reviewer)
    assert "Nothing to adjudicate" in body(client.get(url("adjudicate")))
    assert client.get(url("adjudicate-revision", disagreed.pk)).status_code == 302
    entered = choices(refund_to="left", express="left") | {"rationale": "Mine."}
    assert client.post(url("adjudicate-decide", disagreed.pk), entered).status_code == 409
    assert client.post(url("adjudicate-outcome", disagreed.pk), entered).status_code == 404
    assert not Adjudication.objects.exists()


def test_roles(disagreed: Revision, second_reviewer: User, owner: User, outsider: User, as_user: AsUser):
    assert as_user(second_reviewer).get(url("adjudicate")).status_code == 403
    assert as_user(outsider).get(url("adjudicate")).status_code == 404
    assert as_user(owner).get(url("adjudicate-revision", disagreed.pk)).status_code == 200


def test_the_gold_so_far(disagreed: Revision, client: Client):
    page = body(client.post(url("adjudicate-outcome", disagreed.pk), choices(refund_to="left")))
    assert "valid against the schema" in page
    assert "1 difference is undecided. The left side is used for now." in page
    as_json = body(client.post(url("adjudicate-outcome", disagreed.pk), choices() | {"to": "json"}))
    assert "&quot;create_return&quot;" in as_json
    broken = body(client.post(url("adjudicate-outcome", disagreed.pk), {"mode": "json", "json": '{"kind": "maybe"}'}))
    assert "valid against the schema" not in broken
    assert "field-error" in broken


def test_a_decision_takes_parts_of_both_sides(disagreed: Revision, client: Client, swap: dict[str, str]):
    page = body(client.get(url("adjudicate-revision", disagreed.pk)))
    # Which reviewer is on the left is shuffled: the order of their rationales on the page tells.
    first_is_left = page.index("She named the card.") < page.index("Policy.")
    entered = choices(refund_to="left" if first_is_left else "right", express="right" if first_is_left else "left") | {
        "rationale": " Guideline. ",
        "seconds": "12",
    }
    response = client.post(url("adjudicate-decide", disagreed.pk), entered, headers=swap)
    assert response.status_code == 200
    disagreed.refresh_from_db()
    assert disagreed.gold is not None
    arguments = disagreed.gold.expectation["alternatives"][0]["ordered"][0]["arguments"]
    assert arguments["refund_to"] == {"exact": "original payment"}
    assert arguments["express"] == {"exact": True}
    assert (disagreed.gold.rationale, Adjudication.objects.get().seconds) == ("Guideline.", 12)
    assert "Nothing to adjudicate" in body(response)
    assert "Decided ex-0." in body(response)


def test_a_decision_needs_every_part_and_a_reason(disagreed: Revision, client: Client, swap: dict[str, str]):
    response = client.post(url("adjudicate-decide", disagreed.pk), choices(express="left"), headers=swap)
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["problems"]] == ["", "rationale"]
    assert not Gold.objects.exists()


def test_without_a_script_what_was_chosen_stays(disagreed: Revision, client: Client):
    response = client.post(url("adjudicate-decide", disagreed.pk), choices(express="left") | {"rationale": "Half."})
    assert response.status_code == 422
    assert "1 difference is undecided" in body(response)
    assert "Half." in body(response)


def test_a_third_answer_as_json(disagreed: Revision, client: Client):
    entered = {"mode": "json", "json": '{"kind": "no_call", "why": "refusal"}', "rationale": "Neither."}
    client.post(url("adjudicate-decide", disagreed.pk), entered)
    disagreed.refresh_from_db()
    assert disagreed.gold is not None
    assert disagreed.gold.expectation == {"kind": "no_call", "why": "refusal"}


def test_a_third_answer_from_the_form(disagreed: Revision, client: Client):
    page = body(client.get(url("adjudicate-revision", disagreed.pk) + "?afresh=1"))
    assert "Find a tool" in page
    assert "original payment" in body(client.post(url("adjudicate-panel", disagreed.pk), {"tool": "1"}))
    client.post(url("adjudicate-decide", disagreed.pk), fields())
    disagreed.refresh_from_db()
    assert disagreed.gold is not None


def test_json_that_does_not_fit_the_tools_is_refused(disagreed: Revision, client: Client, swap: dict[str, str]):
    entered = {
        "mode": "json",
        "json": '{"kind": "calls", "alternatives": [{"ordered": [{"tool": "sell_shop"}]}]}',
        "rationale": "x",
    }
    response = client.post(url("adjudicate-decide", disagreed.pk), entered, headers=swap)
    assert response.status_code == 422
    assert not Gold.objects.exists()


def test_a_draft_of_the_decision_is_kept(disagreed: Revision, client: Client):
    response = client.post(url("adjudicate-draft", disagreed.pk), choices(express="left") | {"rationale": "Later"})
    assert [problem["field"] for problem in response.json()["problems"]] == [""]
    page = body(client.get(url("adjudicate-revision", disagreed.pk)))
    assert "Later" in page
    assert page.count(" checked") == 1


def test_somebody_else_was_faster(disagreed: Revision, client: Client, owner: User, swap: dict[str, str]):
    adjudication_decide(revision=disagreed, actor=owner, expectation=returned(), rationale="First.")
    entered = choices(refund_to="left", express="left") | {"rationale": "Second."}
    response = client.post(url("adjudicate-decide", disagreed.pk), entered, headers=swap)
    assert response.status_code == 409
    assert response.json()["url"] == url("example", "core", disagreed.example_id)
    assert client.get(url("adjudicate-revision", disagreed.pk))["Location"] == response.json()["url"]


def test_a_dispute_is_decided_beside_the_gold(disagreed: Revision, client: Client, owner: User, second_reviewer: User):
    adjudication_decide(revision=disagreed, actor=owner, expectation=returned(), rationale="First.")
    dispute_open(
        revision=disagreed, actor=second_reviewer, reason="Express!", expectation=returned(express={"exact": True})
    )
    page = body(client.get(url("adjudicate"), follow=True))
    assert "In force" in page
    assert "Express!" in page
    client.post(url("adjudicate-decide", disagreed.pk), choices(express="right") | {"rationale": "True."})
    disagreed.refresh_from_db()
    assert disagreed.gold is not None
    assert "express" in str(disagreed.gold.expectation)


def test_a_dispute_can_leave_the_gold_as_it_is(disagreed: Revision, client: Client, owner: User, second_reviewer: User):
    gold = adjudication_decide(revision=disagreed, actor=owner, expectation=returned(), rationale="First.")
    dispute_open(revision=disagreed, actor=second_reviewer, reason="No.")
    assert "Disputed gold" in body(client.get(url("adjudicate"), follow=True))
    client.post(url("adjudicate-keep", disagreed.pk))
    disagreed.refresh_from_db()
    assert disagreed.gold_id == gold.pk
    assert Dispute.objects.get().settled_at is not None


def test_only_a_dispute_can_be_kept(disagreed: Revision, client: Client):
    assert client.post(url("adjudicate-keep", disagreed.pk)).status_code == 404


def test_later_goes_on_and_comes_round(disagreed: Revision, client: Client):
    response = client.get(url("adjudicate") + f"?after={disagreed.pk}")
    assert response["Location"] == url("adjudicate-revision", disagreed.pk)
    assert client.get(url("adjudicate") + "?after=nonsense").status_code == 302


def test_a_decision_leaves_no_draft_behind(disagreed: Revision, client: Client):
    entered = choices(refund_to="left", express="left") | {"rationale": "So."}
    client.post(url("adjudicate-draft", disagreed.pk), entered)
    client.post(url("adjudicate-decide", disagreed.pk), entered)
    assert not Draft.objects.exists()
