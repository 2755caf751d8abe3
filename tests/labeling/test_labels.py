from __future__ import annotations

from datetime import timedelta

import pytest

from labeling.adjudicate.resolution import settle_due
from labeling.errors import InvalidAct
from labeling.imports.services import examples_import
from labeling.label.claims import draft_save, slot_skip
from labeling.label.services import label_submit, label_withdraw
from labeling.models import Draft, Gold, GoldSource, Label, LabelSlot, Resolution, SlotState
from tests.labeling.rows import NO_CALL, call, row
from tests.labeling.test_claims import lapse
from tests.labeling.windows import later
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.clock import database_now


def test_label_is_kept_in_normal_form_and_ends_the_draft(dataset, examples, ann, submit):
    draft_save(revision=examples[0], actor=ann, document={})
    label = submit(ann, call(), rationale=" asks for it ", flagged=True, seconds=12.5)
    assert label.expectation["alternatives"][0]["ordered"][0]["arguments"] == {"order_id": {"exact": "A-1"}}
    assert (label.rationale, label.flagged, label.seconds, label.reviewer) == ("asks for it", True, 12.5, ann)
    assert label.slot.labels.count() == 1
    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    ("expectation", "pointer"),
    [
        ({"kind": "nothing"}, "/kind"),
        (call(tool="sell_order"), "/alternatives/0/ordered/0/tool"),
        (call(order=7), "/alternatives/0/ordered/0/arguments/order_id/exact"),
    ],
)
def test_bad_expectation_is_refused_with_a_pointer(dataset, examples, ann, submit, expectation, pointer):
    with pytest.raises(InvalidDocument) as error:
        submit(ann, expectation)
    assert pointer in [problem.pointer for problem in error.value.problems]
    assert not Label.objects.exists()


def test_a_rationale_that_only_begins_is_refused(dataset, examples, ann, submit):
    with pytest.raises(InvalidDocument) as error:
        submit(ann, call(), rationale="The guideline says so: ")
    assert [problem.pointer for problem in error.value.problems] == ["/rationale"]
    assert not Label.objects.exists()
    assert submit(ann, call(), rationale="The guideline says so: § 4").rationale == "The guideline says so: § 4"


def test_submitting_again_adds_nothing(dataset, examples, ann, submit):
    label = submit(ann, call())
    assert submit(ann, call(), slot=label.slot) == label
    assert Label.objects.count() == 1


def test_equivalent_labels_agree_and_settle_after_the_undo_time(dataset, examples, ann, ben, submit):
    submit(ann, call(), rationale="first")
    submit(ben, call())
    examples[0].refresh_from_db()
    assert examples[0].resolution == Resolution.OPEN
    assert settle_due() == 0
    assert not Gold.objects.exists()
    assert settle_due(later()) == 1
    assert settle_due(later()) == 0
    examples[0].refresh_from_db()
    assert examples[0].resolution == Resolution.RESOLVED
    gold = examples[0].gold
    assert (gold.source, gold.rationale, gold.actor) == (GoldSource.AGREED, "first", None)
    assert gold.expectation == Label.objects.get(reviewer=ann).expectation


def test_different_labels_disagree_and_never_settle(dataset, examples, ann, ben, submit):
    submit(ann, call())
    submit(ben, NO_CALL)
    examples[0].refresh_from_db()
    assert (examples[0].resolution, examples[0].settles_at) == (Resolution.DISAGREED, None)
    assert settle_due(later()) == 0


def test_one_label_is_enough_where_one_is_wanted(project, dataset, ann, submit):
    project.labels_wanted = 1
    project.save()
    examples_import(dataset=dataset, actor=None, rows=[row("single")])
    submit(ann, NO_CALL)
    settle_due(later())
    assert Gold.objects.get().source == GoldSource.SINGLE


def test_change_of_mind_adds_a_label(dataset, examples, ann, submit):
    first = submit(ann, call())
    changed = submit(ann, NO_CALL, slot=first.slot)
    assert changed != first
    assert list(Label.objects.filter(reviewer=ann).in_force()) == [changed]
    assert [label.is_first for label in Label.objects.filter(reviewer=ann).order_by("id")] == [True, False]


def test_no_change_of_mind_once_resolved(dataset, examples, ann, ben, submit):
    label = submit(ann, call())
    submit(ben, call())
    settle_due(later())
    assert submit(ann, call(), slot=label.slot) == label
    with pytest.raises(InvalidAct):
        submit(ann, NO_CALL, slot=label.slot)


def test_withdrawn_label_opens_the_revision_for_its_author(claim, dataset, examples, ann, ben, submit):
    submit(ben, call())
    label = submit(ann, call())
    slot = label_withdraw(label=label, actor=ann)
    assert (slot.state, slot.reviewer) == (SlotState.CLAIMED, ann)
    assert label_withdraw(label=label, actor=ann) == slot
    examples[0].refresh_from_db()
    assert examples[0].resolution == Resolution.OPEN
    assert settle_due(later()) == 0
    examples[0].refresh_from_db()
    assert (examples[0].resolution, examples[0].settles_at) == (Resolution.OPEN, None)
    assert claim(ann) == slot
    again = submit(ann, call(), slot=slot)
    assert again != label
    assert Label.objects.filter(reviewer=ann).count() == 2


def test_withdrawing_is_its_authors_and_in_time(dataset, examples, ann, ben, submit):
    label = submit(ann, call())
    with pytest.raises(InvalidAct):
        label_withdraw(label=label, actor=ben)
    Label.objects.filter(pk=label.pk).update(created_at=database_now() - timedelta(minutes=5))
    label.refresh_from_db()
    with pytest.raises(InvalidAct):
        label_withdraw(label=label, actor=ann)


def test_only_the_newest_label_is_withdrawn(dataset, examples, ann, submit):
    old = submit(ann, call())
    submit(ann, NO_CALL, slot=old.slot)
    with pytest.raises(InvalidAct):
        label_withdraw(label=old, actor=ann)


def test_late_label_counts_if_nobody_took_the_slot(claim, dataset, examples, ann):
    slot = claim(ann)
    lapse(slot)
    assert label_submit(slot=slot, actor=ann, expectation=NO_CALL).slot == slot


def test_late_label_takes_another_free_slot_of_the_revision(claim, dataset, examples, ann, ben):
    slot = claim(ann)
    LabelSlot.objects.filter(pk=slot.pk).update(reviewer=ben)
    label = label_submit(slot=slot, actor=ann, expectation=NO_CALL)
    assert label.revision == slot.revision
    assert label.slot != slot


def test_late_label_is_refused_when_every_slot_is_taken(claim, dataset, examples, members):
    ann, ben, cleo = members(3)
    slot = claim(ann)
    claim(ben)
    lapse(slot)
    claim(cleo)
    draft_save(revision=slot.revision, actor=ann, document={"kept": True})
    with pytest.raises(InvalidAct):
        label_submit(slot=slot, actor=ann, expectation=NO_CALL)
    assert Draft.objects.get(user=ann).document == {"kept": True}


def test_nobody_labels_what_they_passed_on(claim, dataset, examples, ann):
    slot = claim(ann)
    slot_skip(slot=slot, actor=ann)
    with pytest.raises(InvalidAct):
        label_submit(slot=slot, actor=ann, expectation=NO_CALL)


def test_a_draft_that_came_after_its_label_does_not_hide_it_when_it_is_taken_back(claim, dataset, examples, ann):
    slot = claim(ann)
    label = label_submit(slot=slot, actor=ann, expectation=NO_CALL, rationale="all of it")
    # On its way when the label was handed in, and given up by the page: the server has it all the same.
    draft_save(revision=slot.revision, actor=ann, document={"rationale": ""})
    label_withdraw(label=label, actor=ann)
    assert not Draft.objects.exists()
    # What is entered from then on is kept, however often it is taken back.
    draft_save(revision=slot.revision, actor=ann, document={"rationale": "all of it, and more"})
    label_withdraw(label=label, actor=ann)
    assert Draft.objects.get().document == {"rationale": "all of it, and more"}
