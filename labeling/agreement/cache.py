"""Keep agreement at the speed of a page: counted at once for some thousand labels, else by a job, and kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

from django.core.cache import cache
from django.db import transaction

from labeling.agreement.cases import changeable_from, decided_tools, pairs_of, read_label, units_of
from labeling.agreement.figures import PairFigures
from labeling.agreement.filters import Filters
from labeling.agreement.report import Agreement, agreement_of
from labeling.label.querysets import LabelQuerySet
from labeling.models import AgreementReport, Dataset, Label, LabelReading
from toolevals.workspace.addresses import address
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, User

AT_ONCE = 500
# More labels than this are counted by a job; so many new ones are read at once.
COUNTED_AT_ONCE = 3_000
READ_AT_ONCE = 1_000
# Kept figures that are older are counted again when someone looks; those that no one looks at go.
FRESH = timedelta(minutes=1)
FORGOTTEN = timedelta(days=1)


def unread(dataset: Dataset) -> LabelQuerySet:
    """Return the labels that count for agreement, can no longer be changed, and have not been read."""
    return _unread(dataset, changeable_from(dataset))


def _unread(dataset: Any, until: datetime) -> LabelQuerySet:
    return Label.objects.blind_firsts_in(dataset, until, elsewhere=True).filter(reading=None)


def labels_read(dataset: Dataset, lease: Lease | None = None) -> int:
    """Read the labels that have not been read, a page in each transaction; return how many were read."""
    done, last = 0, None
    while page := _page(dataset, last):
        rows = []
        for pk, answer, expectation in page:
            read = read_label(answer, expectation)
            rows.append(LabelReading(label_id=pk, tool=read.tool, meaning=read.meaning, arguments=dict(read.arguments)))
        with lease.transaction() if lease else transaction.atomic():
            LabelReading.objects.bulk_create(rows, ignore_conflicts=True)
        done, last = done + len(page), page[-1][0]
    return done


def _page(dataset: Dataset, after: UUID | None) -> list[tuple[UUID, str, dict[str, object] | None]]:
    rows = unread(dataset).filter(pk__gt=after) if after else unread(dataset)
    return list(rows.order_by("pk").values_list("pk", "answer", "expectation")[:AT_ONCE])


@dataclass(frozen=True, slots=True)
class PairTally:
    """The number of pairs of first labels, and of those that differ, at a moment: None where no pair was counted."""

    pairs: int = 0
    differing: int = 0
    counted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """A dataset's figures: as of now where `counted_at` is None. `agreement` is None until a job has counted once.

    `job` counts again, or failed to within the hour.
    """

    agreement: Agreement | None
    counted_at: datetime | None = None
    job: Job | None = None


def agreement_now(dataset: Dataset, filters: Filters) -> Agreement:
    """Count a dataset's agreement. Costs a read of all its labels: see `agreement_counted`."""
    pairs = None if filters.parameters else pairs_of(dataset)
    units = units_of(dataset, filters)
    judged = dict.fromkeys(label.revision for unit in units for label in unit.labels if label.differs is not None)
    return agreement_of(units, decided_tools(judged), filters, pairs)


def agreement_counted(dataset: Dataset, filters: Filters, *, actor: User | None) -> Counted:
    """Return a dataset's figures as they are, or as they were a short while ago while a job counts again."""
    if _is_small_and_read(dataset):
        return Counted(agreement_now(dataset, filters))
    kept = AgreementReport.objects.select_related("job").filter(dataset=dataset, key=filters.key).first()
    if kept is None or not _is_fresh(kept):
        kept = _count_in_a_job(dataset, filters, actor)
    agreement = Agreement.from_document(kept.document) if kept.document else None
    job = kept.job if kept.job and kept.job.stands else None
    return Counted(agreement, kept.counted_at, job)


def pairs_tallied(dataset: Dataset, *, actor: User | None = None, begin: bool = False) -> PairTally:
    """Return how many pairs of first labels of a dataset differ, as of the last minute: see `pair_figures`.

    Of a large dataset it is what the last count found; `begin` lets a job count where that is a day old or missing.
    """
    key = f"labeling:pairs-at:{dataset.pk}"
    tally_read: PairTally | None = cache.get(key)
    if tally_read is None:
        tally_read = _tally(dataset, actor, begin=begin)
        # What a job counts now is asked for again when someone looks.
        if tally_read.counted_at:
            cache.set(key, tally_read, timeout=FRESH.total_seconds())
    return tally_read


def _tally(dataset: Dataset, actor: User | None, *, begin: bool) -> PairTally:
    if _is_small_and_read(dataset):
        return _tally_of(pairs_of(dataset), database_now())
    whole = Filters()
    kept = AgreementReport.objects.select_related("job").filter(dataset=dataset, key=whole.key).first()
    is_old = kept is None or kept.counted_at is None or database_now() - kept.counted_at > FORGOTTEN
    if is_old and begin:
        kept = _count_in_a_job(dataset, whole, actor)
    if kept is None or not kept.document:
        return PairTally()
    return _tally_of(Agreement.from_document(kept.document).pairs, kept.counted_at)


def _tally_of(figures: PairFigures | None, counted_at: datetime | None) -> PairTally:
    same = figures.whole.percent.value if figures else None
    if figures is None or same is None:
        return PairTally(counted_at=counted_at)
    return PairTally(figures.counted, round((1 - same) * figures.counted), counted_at)


def agreement_count_work(lease: Lease) -> None:
    """Read what labels are new and count: what the batch of the job does."""
    dataset = Dataset.objects.get(pk=lease.payload["dataset"])
    labels_read(dataset, lease)
    filters = Filters.of_address(dict(parse_qsl(lease.payload["filters"])), names=True)
    document = agreement_now(dataset, filters).to_document()
    with lease.finish():
        # A report that is gone counted what is no longer resolved: it does not come back.
        rows = AgreementReport.objects.filter(pk=lease.payload["report"])
        rows.update(document=document, counted_at=database_now())


def agreement_forget(dataset: Dataset) -> None:
    """Drop what is kept, in the caller's transaction: something that it counts is no longer resolved."""
    AgreementReport.objects.filter(dataset=dataset).delete()


@transaction.atomic
def _count_in_a_job(dataset: Dataset, filters: Filters, actor: User | None) -> AgreementReport:
    """Begin to count, unless someone does already; return what is known so far. No audit row: nothing changes."""
    AgreementReport.objects.bulk_create([AgreementReport(dataset=dataset, key=filters.key)], ignore_conflicts=True)
    rows = AgreementReport.objects.filter(dataset=dataset)
    kept = rows.select_for_update(of=("self",)).select_related("job").get(key=filters.key)
    if not _is_fresh(kept):
        rows.filter(counted_at__lt=database_now() - FORGOTTEN).exclude(pk=kept.pk).delete()
        payload = {"dataset": str(dataset.pk), "report": kept.pk, "filters": filters.query()}
        where = address("labeling:agreement", dataset.project.slug, dataset.slug)
        kept.job = job_create(
            project=dataset.project,
            actor=actor,
            kind="agreement",
            title=f"Count agreement in {dataset.name}",
            batches=[BatchPlan("labeling.agreement", payload)],
            result_path=f"{where}?{filters.query()}",
        )
        kept.save(update_fields=["job"])
    return kept


def _is_fresh(kept: AgreementReport) -> bool:
    if kept.job is not None and kept.job.stands:
        return True
    return kept.counted_at is not None and database_now() - kept.counted_at < FRESH


def _is_small_and_read(dataset: Dataset) -> bool:
    """Read what labels are new and return true, if a page can wait for that and for counting."""
    compared = Label.objects.filter(slot__dataset=dataset).order_by()
    if compared[: COUNTED_AT_ONCE + 1].count() > COUNTED_AT_ONCE:
        return False
    new = _unread(dataset, changeable_from(dataset)).order_by()[: READ_AT_ONCE + 1].count()
    if 0 < new <= READ_AT_ONCE:
        labels_read(dataset)
    return new <= READ_AT_ONCE
