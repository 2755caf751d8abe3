"""Test what one statement in SQL says is what the models hold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from labeling.label.claims import claim
from labeling.label.querysets import SlotQuerySet
from labeling.label.statements import count_left, first_in_turn, has_begun, label_facts, page_facts
from labeling.models import (
    CalibrationRound,
    Comment,
    Draft,
    GuidelineVersion,
    KeyBindings,
    LabelBatch,
    LabelSlot,
    LookPlan,
    Skip,
)
from tests.labeling.rows import NO_CALL
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

pytestmark = pytest.mark.django_db


def test_what_was_begun_is_a_persons_own(dataset, examples, ann, ben, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert not any(has_begun(ann))
    Draft.objects.create(user=ann, revision=examples[0], document={})
    examples[0].slots.filter(number=1).update(assignee=ann)
    batch = LabelBatch.objects.create(dataset=dataset, name="First", owner=ann)
    assert has_begun(ann) == (True, True, True, False)
    assert not any(has_begun(ben))
    LabelBatch.objects.filter(pk=batch.pk).update(closed_at=batch.created_at)
    calibration = CalibrationRound.objects.create(dataset=dataset, name="Round", comes_first=True)
    assert has_begun(ben) == (False, False, False, True)
    CalibrationRound.objects.filter(pk=calibration.pk).update(closed_at=calibration.created_at)
    assert has_begun(ann) == (True, True, False, False)


def test_a_label_depends_on_the_guideline_and_on_what_was_said_before(
    dataset, examples, ann, ben, submit, django_assert_num_queries
):
    label = submit(ann, NO_CALL)
    revision = label.revision
    with django_assert_num_queries(1):
        assert label_facts(revision, ann) == (0, False, False)
    for number in (1, 2):
        GuidelineVersion.objects.create(dataset=dataset, number=number, text=f"Text {number}")
    skip = Skip.objects.create(revision=revision, reviewer=ben)
    assert label_facts(revision, ben) == (2, True, True)
    Skip.objects.filter(pk=skip.pk).update(undone_at=skip.created_at)
    revision.round += 1
    assert label_facts(revision, ben) == label_facts(revision, ann) == (2, True, False)


def test_a_page_shows_what_is_this_persons(dataset, examples, ann, ben, submit, django_assert_num_queries):
    revision = submit(ann, NO_CALL).revision
    with django_assert_num_queries(1):
        assert page_facts(revision, ann) == (False, True, 0, False, False, False, {})
    Draft.objects.create(user=ben, revision=revision, document={})
    Comment.objects.create(revision=revision, asker=ben, author=ben, text="Which order?")
    KeyBindings.objects.create(user=ben, bindings={"submit": "ctrl+é"})
    plan = LookPlan.objects.create(dataset=dataset, run=1, agent="shop")
    calibration = CalibrationRound.objects.create(dataset=dataset, name="Round")
    assert page_facts(revision, ben) == (True, False, 1, True, True, True, {"submit": "ctrl+é"})
    assert page_facts(examples[1], ben)[:4] == (False, False, 0, True)
    LookPlan.objects.filter(pk=plan.pk).update(ended_at=revision.created_at)
    CalibrationRound.objects.filter(pk=calibration.pk).update(closed_at=revision.created_at)
    assert page_facts(revision, ann) == (False, True, 0, False, False, False, {})


def queue(user: User, slots: SlotQuerySet) -> list[tuple[UUID, UUID]]:
    """Return what is free and fit for a person, in turn: the ids of slots and of their revisions."""
    fit = slots.of_current_round().free(database_now()).for_reviewer(user).in_turn()
    return list(fit.values_list("pk", "revision"))


def test_the_first_in_turn_is_that_of_the_queue(dataset, examples, ann, ben):
    batch = LabelBatch.objects.create(dataset=dataset, name="First")
    slots = LabelSlot.objects.of_dataset(dataset)
    slots.filter(revision=examples[1]).update(batch=batch)
    slots.filter(revision=examples[2]).update(priority=1)
    changes: list[Callable[[LabelSlot], object]] = [
        lambda slot: Skip.objects.create(revision=slot.revision, reviewer=ann),
        lambda slot: slots.filter(revision=slot.revision).update(assignee=ben),
        lambda slot: claim(slot.pk, ann, database_now(), database_now() + timedelta(minutes=1)),
    ]
    for change in changes:
        first = first_in_turn(dataset, ann, database_now())
        fit, in_batch = queue(ann, slots), queue(ann, LabelSlot.objects.of_batch(batch))
        assert first == fit[0][0]
        assert first_in_turn(batch, ann, database_now()) == (in_batch[0][0] if in_batch else None)
        assert count_left(dataset, ann, database_now(), 9) == len({revision for _, revision in fit})
        change(LabelSlot.objects.get(pk=first))
    assert queue(ann, slots) == []
    assert first_in_turn(dataset, ann, database_now() + timedelta(minutes=2)) is None
    assert first_in_turn(dataset, ben, database_now()) == queue(ben, slots)[0][0]
    assert count_left(dataset, ben, database_now(), 9) == count_left(dataset.project, ben, database_now(), 9) == 3
