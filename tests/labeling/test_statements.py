"""Test what one statement in SQL says is what the models hold."""

from __future__ import annotations

import pytest

from labeling.models import CalibrationRound, Comment, Draft, GuidelineVersion, KeyBindings, LabelBatch, LookPlan, Skip
from labeling.queue.statements import has_begun, label_facts, page_facts
from tests.labeling.rows import NO_CALL

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
        assert page_facts(revision, ann) == (False, True, 0, False, False, {})
    Draft.objects.create(user=ben, revision=revision, document={})
    Comment.objects.create(revision=revision, asker=ben, author=ben, text="Which order?")
    KeyBindings.objects.create(user=ben, bindings={"submit": "ctrl+é"})
    plan = LookPlan.objects.create(dataset=dataset, run=1, agent="shop")
    assert page_facts(revision, ben) == (True, False, 1, True, True, {"submit": "ctrl+é"})
    assert page_facts(examples[1], ben)[:4] == (False, False, 0, True)
    LookPlan.objects.filter(pk=plan.pk).update(ended_at=revision.created_at)
    assert page_facts(revision, ann) == (False, True, 0, False, False, {})
