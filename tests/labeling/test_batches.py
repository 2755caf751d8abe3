"""Batches and work that is kept for one person."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from labeling.batches.services import (
    Choice,
    assignments_free,
    batch_close,
    batch_create,
    batch_update,
    slots_assign,
    slots_unassign,
)
from labeling.errors import InvalidAct
from labeling.imports.services import examples_import
from labeling.label.claims import draft_save, slot_claim, slot_reclaim, slot_release, slot_skip
from labeling.models import Adjudication, Comment, LabelBatch, LabelSlot, Revision
from tests.labeling.rows import NO_CALL, row
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Membership


@pytest.fixture
def many(dataset):
    """Six examples, the odd ones hard."""
    rows = [row(f"ex-{n}", strata={"difficulty": "hard" if n % 2 else "easy"}) for n in range(6)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    return dataset


def held(slot: LabelSlot | None) -> str:
    assert slot is not None
    return str(slot.revision.example.external_id)


def progress(batch: LabelBatch) -> Any:
    return LabelBatch.objects.with_progress().get(pk=batch.pk)


def test_a_batch_holds_what_was_chosen_and_no_example_is_in_two(many, ann):
    hard = batch_create(
        dataset=many,
        actor=None,
        name="Hard",
        choice=Choice(strata={"difficulty": "hard"}),
        owner=ann,
        due_on=date(2030, 1, 1),
    )
    found = progress(hard)
    assert (found.examples, found.wanted, found.labels) == (3, 6, 0)
    rest = batch_create(dataset=many, actor=None, name="Rest", choice=Choice(first=2))
    assert progress(rest).examples == 2
    named = batch_create(dataset=many, actor=None, name="Named", choice=Choice(names=("ex-1", "ex-4")))
    assert progress(named).examples == 1
    with pytest.raises(InvalidAct):
        batch_create(dataset=many, actor=None, name="Nothing", choice=Choice())
    assert LabelBatch.objects.count() == 3


def test_progress_counts_labels_and_hours(many, ann, adjudicator, submit):
    batch = batch_create(dataset=many, actor=None, name="All", choice=Choice())
    label = submit(ann, NO_CALL, seconds=1800)
    Adjudication.objects.create(revision=label.revision, adjudicator=adjudicator, rationale="So.", seconds=900)
    found = progress(batch)
    # What took how long is told once the example is resolved.
    assert (found.labels, found.label_hours, found.adjudication_hours, found.hours) == (1, 0, 0.25, 0.25)
    Revision.objects.filter(pk=label.revision_id).update(resolution="resolved")
    found = progress(batch)
    assert (found.labels, found.label_hours, found.adjudication_hours, found.hours) == (1, 0.5, 0.25, 0.75)


def test_begun_then_kept_then_own_batches_then_the_queue(many, members, claim):
    ann, ben = members(2)
    batch_create(dataset=many, actor=None, name="Ann's", choice=Choice(names=("ex-3",)), owner=ann)
    assert slots_assign(dataset=many, actor=None, person=ann, choice=Choice(names=("ex-5",))) == 1
    slot = claim(ben)
    assert held(slot) == "ex-0"
    order = []
    for _ in range(4):
        slot = claim(ann)
        order.append(held(slot))
        if order == ["ex-5"]:
            draft_save(revision=slot.revision, actor=ann, document={})
            slot_release(slot=slot, actor=ann)
            slots_assign(dataset=many, actor=None, person=ann, choice=Choice(names=("ex-2",)))
        else:
            slot_skip(slot=slot, actor=ann)
    assert order == ["ex-5", "ex-5", "ex-2", "ex-3"]


def test_a_batch_can_be_claimed_from_alone(many, ann):
    batch = batch_create(dataset=many, actor=None, name="One", choice=Choice(names=("ex-4",)))
    slot = slot_claim(dataset_or_project=many, actor=ann, batch=batch)
    assert slot is not None
    assert held(slot) == "ex-4"
    slot_skip(slot=slot, actor=ann)
    assert slot_claim(dataset_or_project=many, actor=ann, batch=batch) is None


def test_what_is_kept_for_one_goes_to_nobody_else(many, members, claim):
    ann, ben, cleo = members(3)
    assert slots_assign(dataset=many, actor=None, person=cleo, choice=Choice(names=("ex-0",))) == 1
    assert slots_assign(dataset=many, actor=None, person=cleo, choice=Choice(names=("ex-0",))) == 0
    assert held(claim(ann)) == "ex-0"
    assert held(claim(ben)) == "ex-1"
    assert slots_unassign(dataset=many, actor=None, person=cleo, choice=Choice()) == 1
    slot_skip(slot=claim(ben), actor=ben)
    assert held(claim(ben)) == "ex-0"


def test_a_skip_gives_up_what_was_kept(many, ann, claim):
    slots_assign(dataset=many, actor=None, person=ann, choice=Choice(names=("ex-0",)))
    slot_skip(slot=claim(ann), actor=ann)
    assert not LabelSlot.objects.exclude(assignee=None).exists()


def test_only_those_who_label_are_given_work(many, viewer, outsider):
    for somebody in (viewer, outsider):
        with pytest.raises(InvalidAct):
            slots_assign(dataset=many, actor=None, person=somebody, choice=Choice())
        with pytest.raises(InvalidAct):
            batch_create(dataset=many, actor=None, name="B", choice=Choice(), owner=somebody)


def test_the_sweeper_frees_what_nobody_can_take(many, project, ann, ben):
    slots_assign(dataset=many, actor=None, person=ann, choice=Choice(first=2))
    slots_assign(dataset=many, actor=None, person=ben, choice=Choice(first=1))
    assert assignments_free(database_now()) == 0
    Membership.objects.filter(project=project, user=ann).delete()
    assert assignments_free(database_now()) == 2
    assert LabelSlot.objects.exclude(assignee=None).get().assignee == ben


def test_closing_frees_what_still_wants_labels(many, ann, submit):
    batch = batch_create(dataset=many, actor=None, name="All", choice=Choice(), owner=ann)
    slots_assign(dataset=many, actor=None, person=ann, choice=Choice(), batch=batch)
    submit(ann, NO_CALL)
    batch_close(batch=batch, actor=None)
    batch_close(batch=batch, actor=None)
    found = progress(batch)
    assert (found.labels, found.wanted, found.kept) == (1, 1, 0)
    assert not LabelSlot.objects.filter(priority__isnull=False).exclude(batch=None, assignee=None).exists()
    with pytest.raises(InvalidAct):
        batch_update(batch=found, actor=None, name="Again", owner=None, due_on=None)


def test_who_has_seen_others_work_is_not_given_it(many, claim, project, adjudicator, ann):
    first, second = (LabelSlot.objects.filter(revision__example__external_id=f"ex-{n}")[0].revision for n in range(2))
    Adjudication.objects.create(revision=first, adjudicator=adjudicator, rationale="So.")
    Comment.objects.create(revision=second, asker=ann, author=adjudicator, text="The card.")
    assert held(claim(adjudicator)) == "ex-2"
    Comment.objects.create(revision=first, asker=ann, author=ann, text="Which card?")
    assert held(claim(ann)) == "ex-0"


def test_a_draft_lets_one_take_a_released_example_back(many, members, claim):
    ann, ben, cleo = members(3)
    slot = claim(ann)
    slot_release(slot=slot, actor=ann)
    assert slot_reclaim(slot=slot, actor=ann) is None
    draft_save(revision=slot.revision, actor=ann, document={})
    assert slot_reclaim(slot=slot, actor=ann) == slot
    slot_release(slot=slot, actor=ann)
    for other in (ben, cleo):
        claim(other)
    assert slot_reclaim(slot=slot, actor=ann) is None


def test_former_rounds_are_offered_to_nobody(many, claim, ann):
    LabelSlot.objects.filter(revision__example__external_id="ex-0").update(round=0)
    assert held(claim(ann)) == "ex-1"
