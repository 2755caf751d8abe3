"""Another round, earlier gold in force again, a decision taken back: nothing is overwritten."""

from __future__ import annotations

import pytest

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import (
    adjudication_decide,
    adjudication_set_aside,
    adjudication_withdraw,
    dispute_open,
    gold_restore,
    revision_reopen,
)
from labeling.errors import InvalidAct
from labeling.feedback.services import feedback_mark_seen
from labeling.label.services import label_submit, label_withdraw
from labeling.models import (
    Adjudication,
    Dispute,
    Feedback,
    Gold,
    GoldSource,
    Label,
    LabelSlot,
    Resolution,
    Revision,
    Skip,
)
from tests.labeling.rows import NO_CALL, call
from tests.labeling.windows import later
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Role


@pytest.fixture
def differing(dataset, examples, ann, ben, submit) -> Revision:
    submit(ann, call())
    submit(ben, NO_CALL)
    revision: Revision = examples[0]
    return revision


@pytest.fixture
def decided(differing, adjudicator) -> Gold:
    return adjudication_decide(revision=differing, actor=adjudicator, expectation=call(), rationale="Read it.")


def shown(revision: Revision) -> tuple[str, Gold | None, int]:
    revision.refresh_from_db()
    return revision.resolution, revision.gold, revision.round


def test_reopening_begins_another_round_and_keeps_everything(differing, decided, adjudicator):
    revision_reopen(revision=differing, actor=adjudicator, reason="The guideline changed.")
    assert shown(differing) == (Resolution.OPEN, None, 2)
    assert list(Gold.objects.history_of(differing)) == [decided]
    assert Label.objects.count() == 2
    assert not Label.objects.in_force().exists()
    fresh = LabelSlot.objects.filter(revision=differing, round=2)
    assert [(slot.number, slot.state) for slot in fresh.order_by("number")] == [(0, "open"), (1, "open")]
    entry = AuditEntry.objects.get(verb="revision_reopen", target_id=differing.pk)
    assert (entry.actor, entry.detail["reason"]) == (adjudicator, "The guideline changed.")


def test_reopening_needs_a_reason_and_something_to_reopen(examples, differing, decided, adjudicator):
    with pytest.raises(InvalidDocument):
        revision_reopen(revision=differing, actor=adjudicator, reason=" ")
    with pytest.raises(InvalidAct):
        revision_reopen(revision=examples[1], actor=adjudicator, reason="Why not")
    revision_reopen(revision=differing, actor=adjudicator, reason="Once")
    with pytest.raises(InvalidAct):
        revision_reopen(revision=differing, actor=adjudicator, reason="Twice")


def test_labels_that_differ_may_be_asked_for_again_but_not_by_who_gave_one(differing, members, adjudicator, ann):
    with pytest.raises(InvalidAct):
        revision_reopen(revision=differing, actor=ann, reason="Mine is right")
    revision_reopen(revision=differing, actor=adjudicator, reason="Neither has read it")
    assert shown(differing)[::2] == (Resolution.OPEN, 2)


def test_the_next_round_makes_gold_by_itself_and_tells_who_said_otherwise(differing, decided, adjudicator, members):
    revision_reopen(revision=differing, actor=adjudicator, reason="Again")
    for user in members(2):
        slot = LabelSlot.objects.filter(revision=differing, round=2, reviewer=None).order_by("number")[0]
        slot.reviewer, slot.state = user, "claimed"
        slot.save()
        label_submit(slot=slot, actor=user, expectation=NO_CALL)
    assert settle_due(later()) == 1
    resolution, gold, _ = shown(differing)
    assert gold is not None
    assert (resolution, gold.source) == (Resolution.RESOLVED, GoldSource.AGREED)
    told = Feedback.objects.get()
    assert (told.label.expectation, told.differs, told.gold) == (call(), True, gold)


def test_a_retry_of_an_earlier_round_is_the_label_of_then(differing, decided, adjudicator, ann):
    label = Label.objects.get(reviewer=ann)
    revision_reopen(revision=differing, actor=adjudicator, reason="Again")
    assert label_submit(slot=label.slot, actor=ann, expectation=label.expectation) == label
    with pytest.raises(InvalidAct):
        label_submit(slot=label.slot, actor=ann, expectation=NO_CALL)
    with pytest.raises(InvalidAct):
        label_withdraw(label=label, actor=ann)


def test_reopening_ends_skips_and_disputes(differing, decided, adjudicator, members):
    (carl,) = members(1)
    Skip.objects.create(revision=differing, reviewer=carl)
    dispute_open(revision=differing, actor=carl, reason="No")
    revision_reopen(revision=differing, actor=adjudicator, reason="Again")
    assert not Skip.objects.standing().exists()
    assert not Dispute.objects.open().exists()


def test_earlier_gold_is_put_in_force_again(differing, decided, adjudicator, members, ann):
    (second,) = members(1, Role.ADJUDICATOR)
    dispute_open(revision=differing, actor=ann, reason="No")
    newer = adjudication_decide(revision=differing, actor=second, expectation=NO_CALL, rationale="Greeting.")
    restored = gold_restore(gold=decided, actor=adjudicator, reason="It was right.")
    assert (restored.source, restored.expectation, restored.actor) == (GoldSource.RESTORED, call(), adjudicator)
    assert shown(differing)[:2] == (Resolution.RESOLVED, restored)
    assert list(Gold.objects.history_of(differing)) == [restored, newer, decided]
    assert gold_restore(gold=decided, actor=adjudicator, reason="It was right.") == restored
    assert gold_restore(gold=restored, actor=adjudicator, reason="Now") == restored


def test_gold_is_restored_while_the_example_is_open_again(differing, decided, adjudicator):
    revision_reopen(revision=differing, actor=adjudicator, reason="Again")
    gold_restore(gold=decided, actor=adjudicator, reason="No need.")
    assert not LabelSlot.objects.filter(revision=differing, state="open").exists()


def test_nobody_restores_what_they_labelled(differing, decided, ann):
    with pytest.raises(InvalidAct):
        gold_restore(gold=decided, actor=ann, reason="Mine")


def test_a_decision_is_taken_back(project, differing, decided, adjudicator):
    made = Adjudication.objects.get()
    adjudication_withdraw(adjudication=made, actor=adjudicator)
    adjudication_withdraw(adjudication=made, actor=adjudicator)
    assert shown(differing)[:2] == (Resolution.DISAGREED, None)
    assert Gold.objects.count() == Adjudication.objects.exclude(withdrawn_at=None).count() == 1
    assert not Feedback.objects.exists()
    assert differing in Revision.objects.to_adjudicate(project, adjudicator)
    adjudication_decide(revision=differing, actor=adjudicator, expectation=NO_CALL, rationale="Rather this.")
    assert shown(differing)[0] == Resolution.RESOLVED


def test_taking_back_puts_the_disputed_gold_in_force_again(differing, decided, members, ann):
    (second,) = members(1, Role.ADJUDICATOR)
    dispute = dispute_open(revision=differing, actor=ann, reason="No")
    made = adjudication_set_aside(revision=differing, actor=second, answer="ambiguous", rationale="Both.")
    adjudication_withdraw(adjudication=made, actor=second)
    assert shown(differing)[:2] == (Resolution.RESOLVED, decided)
    assert list(Dispute.objects.open()) == [dispute]


def test_too_late_or_anothers_decision_stays(project, differing, decided, adjudicator, owner):
    made = Adjudication.objects.get()
    with pytest.raises(InvalidAct):
        adjudication_withdraw(adjudication=made, actor=owner)
    Adjudication.objects.update(created_at=database_now() - (later() - database_now()))
    with pytest.raises(InvalidAct):
        adjudication_withdraw(adjudication=made, actor=adjudicator)
    assert shown(differing)[1] == decided


def test_a_team_of_two_may_decide_its_own(project, dataset, examples, members, ben, submit):
    (chief,) = members(1, Role.ADJUDICATOR)
    label = submit(chief, call())
    submit(ben, NO_CALL)
    assert not Revision.objects.to_adjudicate(project, chief).exists()
    project.decide_own = True
    project.save()
    assert list(Revision.objects.to_adjudicate(project, chief)) == [examples[0]]
    with pytest.raises(InvalidAct):
        label_submit(slot=label.slot, actor=chief, expectation=NO_CALL)
    with pytest.raises(InvalidAct):
        label_withdraw(label=label, actor=chief)
    gold = adjudication_decide(revision=examples[0], actor=chief, expectation=call(), rationale="We talked.")
    assert shown(examples[0])[1] == gold


def test_both_reviewers_are_told_and_mark_it_as_read(project, differing, decided, ann, ben):
    told = {row.reviewer: (row.differs, row.gold) for row in Feedback.objects.all()}
    assert told == {ann: (False, decided), ben: (True, decided)}
    assert Feedback.objects.for_reviewer(project, ben).unseen().count() == 1
    assert feedback_mark_seen(project=project, actor=ben) == 1
    assert feedback_mark_seen(project=project, actor=ben) == 0
    assert not Feedback.objects.for_reviewer(project, ben).unseen().exists()
