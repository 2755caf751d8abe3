"""Make staged rows the dataset's own: small imports in one transaction, large ones in hidden parts shown all at once.

- An external id that is new: an example, its first revision, and gold or label slots.
- Equal content: nothing. Other input or tools: a further revision, which is shown from now on; labels stay with theirs.
- Another expectation: newer gold where the gold was imported, a dispute where people decided or have begun to label.
- Other strata, or another word on what decides: the metadata change.

New examples of a large import are put, some at a time, into a dataset of a project that has no members
(`labeling.datasets.staging_datasets`): no page, no queue and no count reaches it. One short transaction then makes them
the real dataset's, and what never finished is swept. Why: docs/decisions/0020.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef, UUIDField
from uuid_utils.compat import uuid7

from labeling.batches.ordering import queue_order, turn_of
from labeling.batches.overlap import Overlap
from labeling.datasets.staging_datasets import (
    AT_ONCE,
    examples_delete,
    waiting_dataset,
    waiting_found,
    waiting_give_up,
    waiting_sweep,
)
from labeling.imports import statements as sql
from labeling.imports.changes import REASON, Decided, changes_decide, changes_store, revisions_evaluate
from labeling.models import (
    Dataset,
    Example,
    ImportPart,
    LabelSlot,
    QueueOrder,
    Resolution,
    Revision,
    SlotState,
    StagedExample,
)
from toolevals.json_types import JsonObject
from toolevals.workspace.bulk import others_write_first, rows_insert
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Batch, BatchState, Job, JobState, User

# Above any line of a file.
LAST_LINE = 2**31 - 1


# What a cancelled or failed import has staged is kept so long, for the person who retries it; later the file is read
# again.
STAGED_KEPT = timedelta(hours=1)
# Seconds that one round of the sweeper spends here.
BUDGET_SECONDS = 1.0
PART_TASK, PUBLISH_TASK = "labeling.import_part", "labeling.import_publish"


@dataclass(slots=True)
class Published:
    """The effect of an import on a dataset, in examples."""

    rows: int = 0
    added: int = 0
    revised: int = 0
    gold_changed: int = 0
    disputed: int = 0
    strata_changed: int = 0
    decided_by_changed: int = 0
    unchanged: int = 0

    def to_document(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


def rows_publish(dataset: Dataset, *, key: UUID, actor: User | None) -> Published:
    """Publish the rows staged under `key` (a job's id, or a part's) and return what that changed.

    The dataset's row is locked: two imports into it take turns.
    """
    Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    publication = Publication(dataset, key, actor)
    added = publication.add()
    published = publication.change(added)
    publication.add_slots()
    return published


def slots_insert(dataset: Dataset, to_label: Iterable[tuple[Any, ...]]) -> None:
    """Make the places for labels of revisions that have none yet, each given with its example's name."""
    overlap = Overlap.of(dataset.project)
    rows_insert(
        LabelSlot,
        ("id", "dataset_id", "revision_id", "number", "state", "priority", "turn"),
        (
            (uuid7(), dataset.pk, revision, number, SlotState.OPEN.value, 0, turn_of(dataset, name))
            for revision, name in to_label
            for number in range(overlap.labels_for(name))
        ),
    )


class Publication:
    """The steps of publishing what is staged under `key`: `into` is the dataset that new examples are put into."""

    def __init__(self, dataset: Dataset, key: UUID, actor: User | None, into: UUID | None = None) -> None:
        self.dataset, self.actor = dataset, actor
        self.values: JsonObject = {
            "job": _parameter(key),
            "dataset": _parameter(dataset.pk),
            "into": _parameter(into or dataset.pk),
            "after": 0,
            "until": LAST_LINE,
            "actor": _parameter(actor.pk) if actor else None,
            "reason": REASON,
            "now": connection.ops.adapt_datetimefield_value(database_now()),
        }

    def add(self, after: int = 0, until: int = LAST_LINE) -> int:
        """Add the examples that the dataset lacks, of the lines after one and up to one; return how many."""
        self.values |= {"after": after, "until": until}
        added = self._execute(sql.ADD_EXAMPLES)
        for statement in (sql.ADD_REVISIONS, sql.ADD_GOLD, sql.ADD_ORIGINS):
            self._execute(statement)
        return added

    def show(self) -> int:
        """Make the dataset's own what was put elsewhere; return how many. Raises IntegrityError for ids it has."""
        return self._execute(sql.SHOW_ALL)

    def count(self) -> int:
        """Return how many rows are staged."""
        return int(self._query(sql.COUNT_ROWS)[0][0])

    def decide(self, after: int = 0, until: int = LAST_LINE) -> list[Decided]:
        """Return what the rows of some lines will change, where that was not decided yet; it only reads."""
        return changes_decide(self.values | {"after": after, "until": until})

    def change(self, added: int, rows: int | None = None) -> Published:
        """Change the examples that were there before, after `added` new ones; return what the import did in all.

        `rows`: how many are staged, where that has been counted. What was decided in advance is taken where the
        example still is as it was.
        """
        done = Published(rows=self.count() if rows is None else rows, added=added)
        changed = 0
        if added < done.rows:
            self._decide_rest(done.rows - added)
            counts = self._query(sql.COUNTS)[0]
            done.revised, done.gold_changed, done.disputed, done.strata_changed, done.decided_by_changed, changed = (
                counts
            )
            self._apply(done)
        done.unchanged = done.rows - done.added - changed
        return done

    def add_slots(self) -> None:
        """Make the places for labels, each with its turn; what the strata lack is known only when all is there."""
        to_label = self._query(sql.TO_LABEL)
        slots_insert(self.dataset, to_label)
        if to_label and self.dataset.order == QueueOrder.DEFICITS:
            transaction.on_commit(lambda: queue_order(dataset=self.dataset, actor=self.actor))

    def _decide_rest(self, wanted: int) -> None:
        """Have it decided about all rows, `wanted` in number, by what the examples are now and remain."""
        while True:
            if connection.features.has_select_for_update:
                # Reviewers may be at work on these: wait for them, then look again.
                self._query(sql.LOCK)
            self._execute(sql.FORGET_OUTDATED)
            if self._query(sql.COUNT_DECIDED)[0][0] == wanted or not (decided := self.decide()):
                return
            changes_store(decided)

    def _apply(self, done: Published) -> None:
        """Make the changes, each kind of them for all rows at once."""
        if done.revised:
            for statement in (sql.REVISE, sql.REVISE_GOLD, sql.REVISE_ORIGIN, sql.CLOSE_SLOTS):
                self._execute(statement)
            self._execute(sql.SHOW)
            self._execute(sql.OPEN_SLOTS)
            revisions_evaluate(row[0] for row in self._query(sql.TO_EVALUATE))
        if done.gold_changed:
            for statement in (sql.REGILD, sql.PUT_IN_FORCE, sql.CLOSE_REGILDED):
                self._execute(statement)
        if done.disputed:
            self._execute(sql.DISPUTE_GOLD)
        if done.strata_changed:
            self._execute(sql.SET_STRATA)
        if done.decided_by_changed:
            self._execute(sql.SET_DECIDED_BY)

    def _query(self, statement: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement, self.values)
            return list(cursor.fetchall())

    def _execute(self, statement: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute(statement, self.values)
            return int(cursor.rowcount)


def _parameter(value: UUID) -> Any:
    return UUIDField().get_db_prep_value(value, connection)


def arrival_place(lease: Lease, dataset: Dataset, parts: list[ImportPart]) -> Dataset:
    """Place the new rows of an import's parts and return the dataset that they wait in; what is placed stays so."""
    job = lease.batch.job
    waiting = waiting_dataset(dataset.name, str(job.pk))
    for part in parts:
        publication = Publication(dataset, part.pk, job.actor, into=waiting.pk)
        while (until := _next_lines(part, part.placed)) is not None:
            with lease.transaction():
                publication.add(part.placed, until)
                ImportPart.objects.filter(pk=part.pk).update(placed=until)
            part.placed = until
            others_write_first()
    return waiting


def arrival_decide(lease: Lease, dataset: Dataset, parts: list[ImportPart]) -> None:
    """Decide what an import will change about examples that were there before; what was decided stays so."""
    for part in parts:
        publication = Publication(dataset, part.pk, lease.batch.job.actor)
        after = 0
        while (until := _next_lines(part, after)) is not None:
            if decided := publication.decide(after, until):
                with lease.transaction():
                    changes_store(decided)
                others_write_first()
            after = until


def arrival_show(dataset: Dataset, waiting: Dataset, *, job: Job, rows: int) -> Published:
    """Make what waits the dataset's own, and change what was there before; within the caller's transaction.

    Raises IntegrityError where the dataset has got an example of the same id meanwhile: see `conflicts_take_back`.
    """
    Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    publication = Publication(dataset, job.pk, job.actor, into=waiting.pk)
    published = publication.change(publication.show(), rows)
    waiting_give_up(waiting)
    return published


def places_wanted(dataset: Dataset, *, actor: User | None) -> None:
    """Have the places for labels made, where examples lack them: a job of its own, in the caller's transaction."""
    job_create(
        project=dataset.project,
        actor=actor,
        kind="overlap",
        title=f"Places for labels in {dataset.name}",
        batches=[BatchPlan("labeling.places", {"dataset": str(dataset.pk)})],
    )


def places_work(lease: Lease) -> None:
    """Make the places for labels that a dataset's open examples lack: what that job does. Twice is once."""
    dataset = _dataset(lease.payload["dataset"])
    # Of the current round only the first has none: others were opened with theirs.
    slots = LabelSlot.objects.filter(revision=OuterRef("pk"))
    rows = Revision.objects.current().filter(~Exists(slots), example__dataset=dataset, resolution=Resolution.OPEN)
    lacking = rows.order_by("pk").values_list("pk", "example__external_id")
    while True:
        with lease.transaction():
            # As overlaps do: neither adds places while the other does.
            Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
            if not (some := list(lacking.select_for_update(of=("self",))[:AT_ONCE])):
                break
            slots_insert(dataset, some)
            lease.report({"added": len(some)})
        others_write_first()
    if dataset.order == QueueOrder.DEFICITS:
        queue_order(dataset=dataset, actor=lease.batch.job.actor)


def _dataset(pk: str) -> Dataset:
    return Dataset.objects.select_related("project").get(pk=pk)


def is_to_label(waiting: Dataset) -> bool:
    """Return whether people are to label any of what waits."""
    return Revision.objects.filter(example__dataset=waiting, resolution=Resolution.OPEN).exists()


def conflicts_take_back(lease: Lease, dataset: Dataset, waiting: Dataset) -> int:
    """Delete what waits under an id that the dataset has by now; return how much. It is told as a change then."""
    removed = 0
    there = Example.objects.filter(dataset=dataset).values("external_id")
    names = Example.objects.filter(dataset=waiting, external_id__in=there).order_by("pk").values_list("pk", flat=True)
    while some := list(names[:AT_ONCE]):
        with lease.transaction():
            examples_delete(some)
        removed += len(some)
        others_write_first()
    return removed


def parts_detach(job: Job) -> None:
    """Let an import's parts belong to no job: no one needs them, and `staged_sweep` takes them away."""
    ImportPart.objects.filter(job=job).update(job=None)


def imports_sweep(now: datetime) -> int:
    """Take away, some at a time, what imports have left behind; return how many rows went.

    A cancelled or failed one that is retried later reads its file again.
    """
    ended = ImportPart.objects.filter(
        job__state__in=(JobState.CANCELLED, JobState.FAILED), job__finished_at__lt=now - STAGED_KEPT
    )
    for pk in ended.order_by().values_list("job", flat=True).distinct():
        _unstage(pk)
    until = monotonic() + BUDGET_SECONDS
    return staged_sweep(until) + waiting_sweep(now, until)


def staged_sweep(until: float = float("inf")) -> int:
    """Delete the parts that belong to no job, in short transactions, until a moment; return how many rows went."""
    removed = 0
    for part in ImportPart.objects.filter(job=None).only("pk").order_by("pk"):
        rows = StagedExample.objects.filter(part=part).order_by("pk").values_list("pk", flat=True)
        while some := list(rows[:AT_ONCE]):
            if monotonic() > until:
                return removed
            removed += StagedExample.objects.filter(pk__in=some).delete()[0]
            others_write_first()
        part.delete()
    return removed


@transaction.atomic
def _unstage(pk: UUID) -> None:
    """Make the job of an import read its file again if it is retried, and its parts no one's."""
    job = Job.objects.select_for_update(no_key=True).get(pk=pk)
    if job.state not in (JobState.CANCELLED, JobState.FAILED):
        return
    batches = Batch.objects.filter(job=job)
    if not batches.filter(task=PUBLISH_TASK, state=BatchState.DONE).exists():
        batches.filter(task=PART_TASK, state=BatchState.DONE).update(state=BatchState.CANCELLED, done=0)
        Job.objects.filter(pk=pk).update(stage=1)
    parts_detach(job)
    if (waiting := waiting_found(str(pk))) is not None:
        waiting_give_up(waiting)


def _next_lines(part: ImportPart, after: int) -> int | None:
    """Return up to which line the rows after one are taken next; None where all are."""
    lines = StagedExample.objects.filter(part=part, line__gt=after).order_by("line").values("line")[:AT_ONCE]
    last: int | None = StagedExample.objects.filter(part=part, line__in=lines).aggregate(last=Max("line"))["last"]
    return last
