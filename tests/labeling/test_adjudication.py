from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide, dispute_open, dispute_settle, gold_restore
from labeling.errors import InvalidAct
from labeling.imports.services import examples_import
from labeling.label.claims import slot_release
from labeling.label.services import label_withdraw
from labeling.models import Adjudication, Gold, GoldSource, Label, Resolution, Revision
from labeling.versions.services import Misfits, version_freeze
from tests.labeling.rows import NO_CALL, call, row
from tests.labeling.windows import later
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import AuditEntry, Role, User


@pytest.fixture
def disputed(dataset, examples, ann, ben, submit):
    submit(ann, call())
    submit(ben, NO_CALL)
    return examples[0]


def decide(revision: Revision, actor: User, expectation: Any = None, rationale: str = "because") -> Gold:
    return adjudication_decide(revision=revision, actor=actor, expectation=expectation or call(), rationale=rationale)


def test_decision_becomes_gold(disputed, adjudicator):
    gold = decide(disputed, adjudicator, call(order="A-9"))
    disputed.refresh_from_db()
    assert (disputed.resolution, disputed.gold) == (Resolution.RESOLVED, gold)
    assert (gold.source, gold.actor, gold.rationale) == (GoldSource.ADJUDICATED, adjudicator, "because")
    assert Adjudication.objects.get().adjudicator == adjudicator
    assert Label.objects.count() == 2


def test_same_decision_again_adds_nothing(disputed, adjudicator):
    gold = decide(disputed, adjudicator)
    assert decide(disputed, adjudicator) == gold
    assert Adjudication.objects.count() == Gold.objects.count() == 1
    with pytest.raises(InvalidAct):
        decide(disputed, adjudicator, NO_CALL)


@pytest.mark.parametrize(
    "rationale",
    ["", "  \n", "The guideline says so: ", "THE GUIDELINE SAYS SO: …", "The user said so: No one asked for it:"],
)
def test_rationale_is_required(disputed, adjudicator, rationale):
    with pytest.raises(InvalidDocument) as error:
        decide(disputed, adjudicator, rationale=rationale)
    assert error.value.problems[0].pointer == "/rationale"


def test_nobody_decides_about_their_own_label(disputed, ann, owner):
    with pytest.raises(InvalidAct):
        decide(disputed, ann)
    decide(disputed, owner)


def test_nothing_to_decide_while_labels_are_missing_or_agree(dataset, examples, ann, ben, adjudicator, submit):
    with pytest.raises(InvalidAct):
        decide(examples[0], adjudicator)
    submit(ann, call())
    with pytest.raises(InvalidAct):
        decide(examples[0], adjudicator)
    submit(ben, call())
    with pytest.raises(InvalidAct):
        decide(examples[0], adjudicator)


def test_queue_leaves_out_what_one_has_labelled_even_taken_back(
    project, dataset, examples, members, adjudicator, submit
):
    ann, ben = members(2)
    (chief,) = members(1, Role.ADJUDICATOR)
    label = submit(chief, call())
    label_withdraw(label=label, actor=chief)
    label.slot.refresh_from_db()
    slot_release(slot=label.slot, actor=chief)
    submit(ann, call())
    submit(ben, NO_CALL)
    assert list(Revision.objects.to_adjudicate(project, adjudicator)) == [examples[0]]
    assert not Revision.objects.to_adjudicate(project, chief).exists()
    with pytest.raises(InvalidAct):
        decide(examples[0], chief)


def test_dispute_brings_gold_back_to_an_adjudicator_and_keeps_the_old_one(project, disputed, ann, adjudicator, members):
    (second,) = members(1, Role.ADJUDICATOR)
    old = decide(disputed, adjudicator)
    dispute = dispute_open(revision=disputed, actor=ann, reason="It is another order", expectation=call(order="B-2"))
    assert (
        dispute_open(revision=disputed, actor=ann, reason="It is another order", expectation=call(order="B-2"))
        == dispute
    )
    assert disputed in Revision.objects.to_adjudicate(project, second)
    new = decide(disputed, second, call(order="B-2"), "right")
    dispute.refresh_from_db()
    disputed.refresh_from_db()
    assert dispute.settled_at is not None
    assert disputed.gold == new
    assert list(Gold.objects.history_of(disputed)) == [new, old]


def test_dispute_can_be_settled_without_a_change(project, disputed, ann, adjudicator):
    gold = decide(disputed, adjudicator)
    dispute = dispute_open(revision=disputed, actor=ann, reason="No")
    with pytest.raises(InvalidAct):
        dispute_settle(dispute=dispute, actor=ann)
    assert dispute_settle(dispute=dispute, actor=adjudicator).settled_at is not None
    disputed.refresh_from_db()
    assert disputed.gold == gold
    assert not Revision.objects.to_adjudicate(project, adjudicator).exists()


def test_dispute_needs_gold_and_a_reason(disputed, adjudicator, ann):
    with pytest.raises(InvalidAct):
        dispute_open(revision=disputed, actor=ann, reason="No")
    decide(disputed, adjudicator)
    with pytest.raises(InvalidDocument):
        dispute_open(revision=disputed, actor=ann, reason=" ")


def test_version_holds_what_has_gold_and_is_made_once(dataset, disputed, examples, ann, ben, adjudicator, submit):
    with pytest.raises(InvalidAct):
        version_freeze(dataset=dataset, actor=adjudicator)
    decide(disputed, adjudicator)
    first = version_freeze(dataset=dataset, actor=adjudicator, note="start")
    assert (first.number, first.size, [entry.revision for entry in first.entries.all()]) == (1, 1, [disputed])
    assert version_freeze(dataset=dataset, actor=adjudicator) == first
    submit(ann, NO_CALL)
    submit(ben, NO_CALL)
    settle_due(later())
    second = version_freeze(dataset=dataset, actor=adjudicator)
    assert (second.number, second.size) == (2, 2)
    assert first.entries.count() == 1


def test_labels_that_no_call_satisfies_are_frozen_only_for_a_reason(
    dataset, adjudicator, django_assert_max_num_queries
):
    either = call()
    either["alternatives"][0]["ordered"][0]["arguments"] = {"order_id": {"one_of": ["A-1", 5]}}
    rows = [row("good", expectation=call()), row("part", expectation=either)]
    rows += [row(f"bad-{place}", expectation=call(order=5)) for place in range(7)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    with pytest.raises(Misfits) as refused:
        version_freeze(dataset=dataset, actor=adjudicator, misfits_reason=" ")
    told = str(refused.value)
    assert told.startswith("7 labels break their tools' schemas")
    assert "bad-0: /alternatives/0/ordered/0/arguments/order_id/exact" in told
    assert "And 2 more" in told
    assert "bad-6" not in told
    assert "part" not in told
    assert not dataset.versions.exists()
    with pytest.raises(Misfits, match="characters together"):
        version_freeze(dataset=dataset, actor=adjudicator, note="n" * 200, misfits_reason="r" * 200)
    with django_assert_max_num_queries(40):
        version = version_freeze(dataset=dataset, actor=adjudicator, note="first", misfits_reason="They test refusals.")
    assert version.size == 9
    assert version.note == "first (7 labels break their tools' schemas: They test refusals.)"
    audit = AuditEntry.objects.get(verb="version_freeze").detail
    assert (audit["misfits"], audit["misfits_reason"]) == (7, "They test refusals.")
    # Nothing changed: no new version, and no new reason.
    assert version_freeze(dataset=dataset, actor=adjudicator) == version


def test_gold_that_can_no_longer_be_read_is_a_misfit(dataset, adjudicator):
    examples_import(dataset=dataset, actor=None, rows=[row("old", expectation=call())])
    Gold.objects.update(expectation={"kind": "of old"})
    with pytest.raises(Misfits, match="old: /kind"):
        version_freeze(dataset=dataset, actor=adjudicator)


def test_who_disputes_gold_does_not_decide_about_it(project, disputed, adjudicator, members):
    first, second = members(2, Role.ADJUDICATOR)
    gold = decide(disputed, adjudicator)
    dispute_open(revision=disputed, actor=first, reason="No")
    own = dispute_open(revision=disputed, actor=second, reason="Neither do I think so")
    for chief in (first, second):
        assert not Revision.objects.to_adjudicate(project, chief).exists()
        client = Client()
        client.force_login(chief)
        page = client.get(reverse("labeling:example", args=["shop", "support", disputed.example_id])).content.decode()
        assert reverse("labeling:adjudicate-revision", args=["shop", disputed.pk]) not in page
        entered = {"mode": "json", "json": json.dumps(NO_CALL), "rationale": "So."}
        path = reverse("labeling:adjudicate-decide", args=["shop", disputed.pk])
        assert client.post(path, entered).status_code == 409
        assert client.post(reverse("labeling:adjudicate-keep", args=["shop", disputed.pk])).status_code == 404
        api = "/api/v1/projects/shop/"
        for path, body in (
            (f"adjudications/{disputed.pk}/", {"expectation": NO_CALL, "rationale": "So."}),
            (f"adjudications/{disputed.pk}/set-aside/", {"answer": "ambiguous", "rationale": "So."}),
        ):
            answer = client.post(api + path, body, content_type="application/json")
            assert (answer.status_code, "disputed this gold" in answer.content.decode()) == (409, True), path
    with pytest.raises(InvalidAct, match="disputed this gold"):
        dispute_settle(dispute=own, actor=first)
    with pytest.raises(InvalidAct, match="disputed this gold"):
        gold_restore(gold=gold, actor=second, reason="Again")
    assert disputed in Revision.objects.to_adjudicate(project, adjudicator)
    assert dispute_settle(dispute=own, actor=adjudicator).settled_at is not None
