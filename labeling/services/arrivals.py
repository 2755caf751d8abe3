"""Place large imports in hidden parts, show them all at once, and sweep those that never finished.

New examples are put, some at a time, into a dataset of a project that has no members (`labeling.services.waiting`): no
page, no queue and no count reaches it. One short transaction then makes them the real dataset's. Why:
docs/decisions/0023.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from labeling.models import (
    Dataset,
    Example,
    ImportPart,
    LabelSlot,
    QueueOrder,
    Resolution,
    Revision,
    StagedExample,
)
from labeling.services.import_changes import changes_store
from labeling.services.ordering import queue_order
from labeling.services.publishing import Publication, Published, slots_insert
from labeling.services.waiting import (
    AT_ONCE,
    examples_delete,
    waiting_dataset,
    waiting_found,
    waiting_give_up,
    waiting_sweep,
)
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Batch, BatchState, Job, JobState, User

# What a cancelled or failed import has staged is kept so long, for the person who retries it; later the file is read
# again.
STAGED_KEPT = timedelta(hours=1)
# Seconds that one round of the sweeper spends here.
BUDGET_SECONDS = 1.0
PART_TASK, PUBLISH_TASK = "labeling.import_part", "labeling.import_publish"


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
