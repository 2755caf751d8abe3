"""Test how many people label each example, and what a change does to what is open."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from labeling.adjudicate.resolution import settle_due
from labeling.batches.overlap import Overlap, labelling_set
from labeling.imports.services import examples_import
from labeling.models import GoldSource, LabelSlot, Resolution, Revision, SlotState
from tests.labeling.rows import NO_CALL, row
from tests.labeling.test_ordering import work
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Job


def live(revision: Revision) -> int:
    """Return how many labels a revision has or waits for."""
    return LabelSlot.objects.filter(revision=revision).exclude(state=SlotState.CLOSED).count()


@pytest.fixture
def change(project):
    """Return a function that changes the overlap and does the job; it returns the job."""

    def do(wanted: int, share: float = 1.0, **more: bool) -> Job | None:
        said: dict[str, Any] = {"undo_seconds": 0, "decide_own": False, "suggestions": False} | more
        job = labelling_set(project=project, actor=None, labels_wanted=wanted, labels_share=share, **said)
        if job is not None:
            work(job)
        return job

    return do


def test_a_share_is_chosen_by_names_alone():
    half, most = Overlap(2, 0.5), Overlap(2, 0.8)
    names = [f"ex-{n}" for n in range(2000)]
    doubled = {name for name in names if half.labels_for(name) == 2}
    assert 900 < len(doubled) < 1100
    assert doubled < {name for name in names if most.labels_for(name) == 2}
    assert {Overlap(3, 0).labels_for(name) for name in names} == {1}
    assert {Overlap(3, 1).labels_for(name) for name in names} == {3}
    assert Overlap(2, 0).labels_for("ex-1", 2) == 2


def test_imports_make_as_many_places(project, dataset):
    project.labels_wanted, project.labels_share = 3, 0.5
    project.save()
    examples_import(dataset=dataset, actor=None, rows=[row(f"ex-{n}") for n in range(30)])
    overlap = Overlap.of(project)
    found = {r.example.external_id: live(r) for r in Revision.objects.select_related("example")}
    assert found == {f"ex-{n}": overlap.labels_for(f"ex-{n}") for n in range(30)}
    assert set(found.values()) == {1, 3}


def test_more_labels_add_places_with_the_right_turn(examples, change, ann, submit):
    submit(ann, NO_CALL)
    job = change(3)
    assert job is not None
    assert (job.report["added"], job.report.get("closed", 0)) == (3, 0)
    assert [live(revision) for revision in examples] == [3, 3, 3]
    begun = LabelSlot.objects.filter(revision=examples[0], state=SlotState.OPEN)
    assert set(begun.values_list("priority", flat=True)) == {0}
    assert change(3) is None


def test_fewer_labels_close_free_places_and_resolve_what_has_enough(examples, change, claim, members, submit):
    ann, ben = members(2)
    label = submit(ann, NO_CALL)
    at_work = claim(ben)
    assert at_work.revision == label.revision
    other = claim(ann)
    job = change(1)
    assert job is not None
    assert job.report["closed"] == 2
    assert [live(revision) for revision in examples] == [2, 1, 1]
    at_work.refresh_from_db()
    other.refresh_from_db()
    assert (at_work.state, other.state) == (SlotState.CLAIMED, SlotState.CLAIMED)
    submit(ben, NO_CALL, slot=at_work)
    submit(ann, NO_CALL, slot=other)
    assert settle_due(database_now()) == 2
    sources = Revision.objects.filter(resolution=Resolution.RESOLVED).values_list("gold__source", flat=True)
    assert set(sources) == {GoldSource.AGREED, GoldSource.SINGLE}


def test_one_label_that_is_in_becomes_gold_when_one_is_enough(examples, change, ann, submit):
    submit(ann, NO_CALL)
    change(1)
    settle_due(database_now())
    gold = Revision.objects.get(pk=examples[0].pk).gold
    assert gold is not None
    assert gold.source == GoldSource.SINGLE


def test_closed_places_are_opened_again(examples, change):
    change(1)
    change(2)
    slots = LabelSlot.objects.filter(revision=examples[0])
    assert [(slot.number, slot.state) for slot in slots.order_by("number")] == [(0, "open"), (1, "open")]


def test_what_has_its_labels_stays_as_it_is(examples, change, members, submit):
    for user in members(2):
        submit(user, NO_CALL)
    change(4)
    assert [live(revision) for revision in examples] == [2, 4, 4]


def test_settings_that_are_none_are_refused(project, change):
    with pytest.raises(ValidationError):
        change(6)
    with pytest.raises(ValidationError):
        change(2, 1.5)
    project.refresh_from_db()
    assert (project.labels_wanted, project.labels_share) == (2, 1.0)
