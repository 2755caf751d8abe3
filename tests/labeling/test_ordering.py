"""In which order a dataset's examples are labelled."""

from __future__ import annotations

import pytest

from labeling import tasks
from labeling.batches.ordering import (
    AT_ONCE_IN_A_REQUEST,
    deficits_order,
    disagreement_set,
    order_set,
    queue_order,
    turn_of,
    turns_write,
)
from labeling.imports.services import examples_import
from labeling.models import Dataset, LabelSlot, QueueOrder, Revision
from tests.labeling.rows import NO_CALL, row
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Batch


def names(dataset: Dataset) -> list[str]:
    """Return the examples in their turn."""
    slots = LabelSlot.objects.of_dataset(dataset).filter(number=0, priority__isnull=False).in_turn()
    return list(slots.values_list("revision__example__external_id", flat=True))


@pytest.fixture
def many(dataset):
    """Ten examples, the last four of them hard."""
    rows = [row(f"ex-{n}", strata={"difficulty": "easy" if n < 6 else "hard"}) for n in range(10)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    return dataset


def test_random_order_follows_from_the_seed(many, claim, ann):
    oldest = names(many)
    assert order_set(dataset=many, actor=None, order=QueueOrder.RANDOM, seed=1) is None
    first = names(many)
    order_set(dataset=many, actor=None, order=QueueOrder.RANDOM, seed=2)
    assert first != names(many) != oldest
    order_set(dataset=many, actor=None, order=QueueOrder.RANDOM, seed=1)
    assert names(many) == first
    assert claim(ann).revision.example.external_id == first[0]
    assert AuditEntry.objects.filter(verb="order_set").count() == 3


def test_what_is_imported_later_has_its_turn_at_once(many):
    order_set(dataset=many, actor=None, order=QueueOrder.RANDOM, seed=7)
    examples_import(dataset=many, actor=None, rows=[row(f"late-{n}") for n in range(5)])
    before = names(many)
    assert turns_write(many) == 0
    assert sorted(before, key=lambda name: turn_of(many, name)) == before


def test_what_the_strata_lack_comes_first_then_the_oldest(many, monkeypatch):
    monkeypatch.setattr("labeling.batches.ordering.deficits", lambda _: {("difficulty", "hard"): 2})
    order_set(dataset=many, actor=None, order=QueueOrder.DEFICITS)
    assert names(many)[:4] == ["ex-6", "ex-7", "ex-0", "ex-1"]


def test_what_is_on_its_way_is_missing_no_more(many, monkeypatch, ann, submit):
    monkeypatch.setattr("labeling.batches.ordering.deficits", lambda _: {("difficulty", "hard"): 2})
    order_set(dataset=many, actor=None, order=QueueOrder.DEFICITS)
    submit(ann, NO_CALL)
    deficits_order(database_now())
    later = LabelSlot.objects.filter(revision__example__external_id="ex-7")
    assert set(later.values_list("turn", flat=True)) == {-1}
    monkeypatch.setattr("labeling.batches.ordering.deficits", lambda _: {("difficulty", "hard"): 1})
    assert deficits_order(database_now()) == 2
    assert set(later.values_list("turn", flat=True)) == {0}


def test_the_sweeper_leaves_other_orders_alone(many):
    LabelSlot.objects.update(turn=5)
    assert deficits_order(database_now()) == 0


def test_what_agents_disagree_about_comes_first(many):
    third, last = (Revision.objects.get(example__external_id=name) for name in ("ex-3", "ex-9"))
    assert disagreement_set(dataset=many, values={third.pk: 0.5, last.pk: 1.0}) == 2
    assert disagreement_set(dataset=many, values={third.pk: 0.5}) == 0
    order_set(dataset=many, actor=None, order=QueueOrder.DISAGREEMENT)
    assert names(many)[:3] == ["ex-9", "ex-3", "ex-0"]
    order_set(dataset=many, actor=None, order=QueueOrder.OLDEST)
    assert names(many)[0] == "ex-0"


def test_many_are_ordered_in_a_job(many, monkeypatch):
    monkeypatch.setattr("labeling.batches.ordering.AT_ONCE_IN_A_REQUEST", 9)
    monkeypatch.setattr("labeling.batches.ordering.AT_ONCE", 3)
    many.order, many.order_seed = QueueOrder.RANDOM, 3
    many.save()
    job = queue_order(dataset=many, actor=None)
    assert job is not None
    work(job)
    assert sorted(names(many), key=lambda name: turn_of(many, name)) == names(many)
    assert AT_ONCE_IN_A_REQUEST > 9


def work(job) -> None:
    """Do a job's batches."""
    for batch in Batch.objects.filter(job=job):
        {"labeling.overlap": tasks.overlap_apply, "labeling.queue_order": tasks.queue_order}[batch.task](str(batch.pk))
    job.refresh_from_db()
    assert job.state == "succeeded", [batch.error for batch in Batch.objects.filter(job=job)]
