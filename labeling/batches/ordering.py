"""Order the labelling of a dataset's examples, in the `turn` of their slots.

A turn follows from an example alone (random, disagreement), or from what the strata lack (deficits), so that it can be
written again at any time: what has its turn already is left alone. Revisions are locked first, and those that someone
labels at this moment are left for the next time: no one waits long, and nothing waits for them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet, UUIDField

from labeling.blindness import TO_DECIDE
from labeling.coverage.quotas import class_of, deficits, strata_of
from labeling.models import Dataset, Example, LabelSlot, QueueOrder, Resolution, Revision
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, User

AT_ONCE = 500
# More open examples than this are ordered by a job.
AT_ONCE_IN_A_REQUEST = 2000
# Disagreement is 0..1; a turn is a whole number.
STEPS = 1_000_000

# How many examples of what are still wanted: (stratum, class) -> number.
Missing = dict[tuple[str, str], int]


@transaction.atomic
def order_set(*, dataset: Dataset, actor: User | None, order: str, seed: int = 0) -> Job | None:
    """Change the order of a dataset's queue; return the job that does it, None where it is done. See `queue_order`.

    Raises `ValidationError`.
    """
    dataset.order, dataset.order_seed = order, seed
    dataset.full_clean()
    dataset.save(update_fields=["order", "order_seed"])
    detail = {"order": order, "seed": seed}
    audit_record(project=dataset.project, actor=actor, verb="order_set", target=dataset, detail=detail)
    return queue_order(dataset=dataset, actor=actor)


def queue_order(*, dataset: Dataset, actor: User | None) -> Job | None:
    """Give the open examples of a dataset their turns: at once, or where they are many in a job, which is returned."""
    waiting = _open(dataset)[: AT_ONCE_IN_A_REQUEST + 1].count()
    if waiting <= AT_ONCE_IN_A_REQUEST:
        turns_write(dataset)
        return None
    plan = BatchPlan("labeling.queue_order", {"dataset": str(dataset.pk)})
    title = f"Order the queue of {dataset.name}"
    return job_create(project=dataset.project, actor=actor, kind="order", title=title, batches=[plan])


def queue_order_work(lease: Lease) -> None:
    """Order one dataset's queue: what the batch of the job does."""
    turns_write(Dataset.objects.select_related("default_tools__tools").get(pk=lease.payload["dataset"]), lease)


def deficits_order(now: datetime) -> int:
    """Order again the queues that go by what the strata lack; return how many turns changed. A duty of the sweeper."""
    datasets = Dataset.objects.filter(order=QueueOrder.DEFICITS).select_related("default_tools__tools").order_by("id")
    return sum(turns_write(dataset) for dataset in datasets)


@transaction.atomic
def disagreement_set(*, dataset: Dataset, values: Mapping[Any, float]) -> int:
    """Write how far agents differ about revisions of a dataset: revision id -> 0..1; return how many changed.

    The caller, who knows the runs, leaves the audit row where there is one to leave.
    """
    changed, every = 0, sorted(values)
    for start in range(0, len(every), AT_ONCE):
        some = every[start : start + AT_ONCE]
        # Most differ about nothing, and did not before: those are not read.
        may_differ = Q(pk__in=[pk for pk in some if values[pk]]) | ~Q(disagreement=0)
        # Without a condition on the dataset: SQLite would go through all of its examples for each part.
        known = Revision.objects.filter(may_differ, pk__in=some).values_list("pk", "disagreement", "example__dataset")
        other = [
            Revision(pk=pk, disagreement=values[pk])
            for pk, value, place in known
            if place == dataset.pk and value != values[pk]
        ]
        changed += Revision.objects.bulk_update(other, ["disagreement"])
    return changed


def turn_of(dataset: Dataset, external_id: str, disagreement: float = 0) -> int:
    """Return the turn of an example by itself; 0 where the dataset's order is not by the example alone."""
    if dataset.order == QueueOrder.RANDOM:
        digest = hashlib.sha256(f"{dataset.order_seed} {external_id}".encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1
    return -round(disagreement * STEPS) if dataset.order == QueueOrder.DISAGREEMENT else 0


def turns_write(dataset: Dataset, lease: Lease | None = None) -> int:
    """Write the turns of a dataset's open examples, a page in each transaction; return how many slots changed."""
    missing = _still_missing(dataset) if dataset.order == QueueOrder.DEFICITS else {}
    changed, last = 0, None
    while page := list(_open(dataset, last)[:AT_ONCE]):
        now = _turns_of(page)
        turns = {revision.pk: _turn(dataset, revision, missing) for revision in page}
        if other := {pk: turn for pk, turn in turns.items() if now[pk] - {turn}}:
            with lease.transaction() if lease else transaction.atomic():
                changed += _write(other)
        last = page[-1].pk
    return changed


def _turn(dataset: Dataset, revision: Revision, missing: Missing) -> int:
    """Return a revision's turn; among deficits, what it fills is missing no more for those after it."""
    example = revision.example
    if dataset.order != QueueOrder.DEFICITS:
        return turn_of(dataset, example.external_id, revision.disagreement)
    gaps = [pair for pair in strata_of(example) if missing.get(pair, 0) > 0]
    for pair in gaps:
        missing[pair] -= 1
    return -len(gaps)


def _still_missing(dataset: Dataset) -> Missing:
    """Return what is missing beyond the examples that an adjudicator has still to decide: they want no more labels.

    Whether an example that wants labels has one already changes nothing: its place would tell of it.
    """
    missing = deficits(dataset)
    waiting = Example.objects.of_dataset(dataset).filter(current__resolution__in=TO_DECIDE)
    for name in {stratum for stratum, _ in missing if stratum in Example.STRATA}:
        rows = waiting.order_by()
        for value, count in rows.values_list(name).annotate(n=Count("pk")):
            if (pair := (name, class_of(name, value))) in missing:
                missing[pair] -= count
    return missing


def _open(dataset: Dataset, after: Any = None) -> QuerySet[Revision]:
    """Return the revisions of a dataset that still want labels, the oldest first, without what they show."""
    rows = Revision.objects.current().filter(example__dataset=dataset, resolution=Resolution.OPEN)
    rows = rows.filter(pk__gt=after) if after is not None else rows
    return rows.select_related("example").defer("input").order_by("pk")


def _turns_of(revisions: Sequence[Revision]) -> dict[Any, set[int]]:
    turns: dict[Any, set[int]] = defaultdict(set)
    queued = LabelSlot.objects.filter(revision__in=revisions, priority__isnull=False)
    for revision, turn in queued.values_list("revision", "turn"):
        turns[revision].add(turn)
    return turns


def _write(turns: Mapping[Any, int]) -> int:
    """Write turns of the queued slots of these revisions, those apart that someone has locked; return how many."""
    locked = Revision.objects.select_for_update(skip_locked=True).filter(pk__in=list(turns)).order_by("pk")
    table, key = LabelSlot._meta.db_table, UUIDField()
    # The name of a table is put in, values are parameters.
    statement = f'UPDATE "{table}" SET turn = %s WHERE revision_id = %s AND priority IS NOT NULL'  # noqa: S608
    rows = [(turns[pk], key.get_db_prep_value(pk, connection)) for pk in locked.values_list("pk", flat=True)]
    if not rows:
        return 0
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)
        return int(cursor.rowcount)
