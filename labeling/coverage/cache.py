"""Counts at the speed of a page: made at once for some thousand examples, else kept, and made by a job."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from labeling.coverage.counting import Counts, counts_told, coverage_count
from labeling.coverage.index_gold_tools import AT_ONCE as UNREAD_AT_ONCE
from labeling.coverage.index_gold_tools import gold_read, unread
from labeling.models import CoverageCount, Dataset, Example
from toolevals.workspace.addresses import address
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, User

# Datasets of more examples than this are counted by a job.
COUNTED_AT_ONCE = 20_000
# Kept counts that are older are made again when someone looks.
FRESH = timedelta(minutes=1)
# How large a dataset is, is told this long.
LARGE_FRESH = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Coverage:
    """A dataset's counts: as of now where `counted_at` is None. `counts` is None until a job has counted once.

    `job` counts again, or failed to within the hour.
    """

    counts: Counts | None
    counted_at: datetime | None = None
    job: Job | None = None

    def told(self, hidden: Collection[str]) -> Coverage:
        """Return what is told of it where some strata are hidden."""
        return replace(self, counts=counts_told(self.counts, hidden)) if self.counts is not None else self


def coverage_of(dataset: Dataset, *, actor: User | None) -> Coverage:
    """Return a dataset's counts as they are, or as they were a short while ago while a job counts again."""
    if not is_large(dataset):
        new = unread(dataset)[: 4 * UNREAD_AT_ONCE + 1].count()
        if new <= 4 * UNREAD_AT_ONCE:
            if new:
                gold_read(dataset)
            return Coverage(coverage_count(dataset, is_read=not new))
    return coverage_kept(dataset, actor=actor)


def coverage_kept(dataset: Dataset, *, actor: User | None, fresh: timedelta = FRESH) -> Coverage:
    """Return a large dataset's counts as they were at most `fresh` ago, or before while a job counts again."""
    kept = CoverageCount.objects.select_related("job").filter(dataset=dataset).first()
    if kept is None or not _is_fresh(kept, fresh):
        kept = _count_in_a_job(dataset, actor, fresh)
    counts = Counts.from_document(kept.document) if kept.document else None
    job = kept.job if kept.job and kept.job.stands else None
    return Coverage(counts, kept.counted_at, job)


def datasets_counted(datasets: Iterable[Dataset], *, actor: User | None) -> list[Dataset]:
    """Return datasets with `size`, how many examples each has, `with_gold`, how many of them have gold.

    Large ones were counted at `counted_at`, and have None until a job has counted once; the others are counted now.
    """
    counted_rows: list[Any] = list(datasets)
    rows: Iterable[Any] = Dataset.objects.filter(pk__in=[each.pk for each in counted_rows]).with_counts(COUNTED_AT_ONCE)
    counts = {row.pk: row for row in rows}
    for each in counted_rows:
        each.size, each.with_gold, each.counted_at = counts[each.pk].size, counts[each.pk].with_gold, None
        if each.size is None:
            kept = coverage_kept(each, actor=actor, fresh=LARGE_FRESH)
            each.counted_at = kept.counted_at
            if kept.counts is not None:
                each.size, each.with_gold = kept.counts.size, kept.counts.gold
    return counted_rows


def coverage_count_work(lease: Lease) -> None:
    """Read what gold is new and count: what the batch of the job does."""
    dataset = Dataset.objects.get(pk=lease.payload["dataset"])
    gold_read(dataset, lease)
    counts = coverage_count(dataset)
    with lease.finish():
        CoverageCount.objects.update_or_create(
            dataset=dataset, defaults={"document": counts.to_document(), "counted_at": database_now()}
        )


@transaction.atomic
def _count_in_a_job(dataset: Dataset, actor: User | None, fresh: timedelta) -> CoverageCount:
    """Begin to count, unless someone does already; return what is known so far. No audit row: nothing changes."""
    CoverageCount.objects.bulk_create([CoverageCount(dataset=dataset)], ignore_conflicts=True)
    kept = CoverageCount.objects.select_for_update(of=("self",)).select_related("job").get(dataset=dataset)
    if not _is_fresh(kept, fresh):
        plan = BatchPlan("labeling.coverage_count", {"dataset": str(dataset.pk)})
        title = f"Count what {dataset.name} covers"
        kept.job = job_create(
            project=dataset.project,
            actor=actor,
            kind="coverage",
            title=title,
            batches=[plan],
            result_path=address("labeling:coverage", dataset.project.slug, dataset.slug),
        )
        kept.save(update_fields=["job"])
    return kept


def _is_fresh(kept: CoverageCount, fresh: timedelta) -> bool:
    if kept.job is not None and kept.job.stands:
        return True
    return kept.counted_at is not None and database_now() - kept.counted_at < fresh


def is_large(dataset: Dataset) -> bool:
    """Tell whether a dataset has too many examples to count them while a page waits."""
    return Example.objects.of_dataset(dataset).order_by()[: COUNTED_AT_ONCE + 1].count() > COUNTED_AT_ONCE
