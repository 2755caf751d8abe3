"""Reads jobs and batches, by named methods."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery, Sum, Value
from django.db.models.functions import Coalesce

if TYPE_CHECKING:
    from toolevals.workspace.models import Batch, Job, Project  # noqa: F401

OPEN = ("queued", "leased")
# How the note of a batch at work begins that waits for someone outside.
WAITING = "Waiting for "


class JobQuerySet(models.QuerySet["Job"]):
    """Reads of jobs."""

    def with_progress(self) -> JobQuerySet:
        """Add sums over batches: `items_total`, `items_done`, and of the current stage `stage_total`, `stage_done`.

        `waits_for` says what a batch at work waits for, `failed_for` why the first failed one did; else they are empty.
        """
        return self.annotate(
            items_total=_batches("size"),
            items_done=_batches("done"),
            stage_total=_batches("size", stage=OuterRef("stage")),
            stage_done=_batches("done", stage=OuterRef("stage")),
            waits_for=_error_of(state="leased", error__startswith=WAITING),
            failed_for=_error_of(state="failed"),
        )

    def of_project(self, project: Project) -> JobQuerySet:
        """Return the jobs of a project, without those whose work went into the trash with what it was for."""
        return self.filter(Q(trashed_with=None) | Q(kind="destroy"), project=project)

    def destroying(self) -> JobQuerySet:
        """Return the jobs that destroy what was deleted; `trashed_with` names what."""
        return self.filter(kind="destroy").exclude(trashed_with=None)

    def open(self) -> JobQuerySet:
        """Return what is running or paused."""
        return self.filter(state__in=("running", "paused"))

    def newest_first(self) -> JobQuerySet:
        return self.order_by("-id")


class BatchQuerySet(models.QuerySet["Batch"]):
    """Reads of batches."""

    def due(self, now: datetime) -> BatchQuerySet:
        """Return what a worker may take: queued, or leased and overdue, in the current stage of a running job.

        Every condition on the batch itself is a plain column test, so that a conditional update on PostgreSQL checks it
        again on the row that another transaction has just changed.
        """
        from toolevals.workspace.models import Job

        running = Job.objects.filter(pk=OuterRef("job_id"), stage=OuterRef("stage"), state="running")
        return self.filter(Exists(running), state__in=OPEN, due_at__lte=now)

    def not_rung_since(self, moment: datetime) -> BatchQuerySet:
        """Leave out what was announced after `moment` and has not become due once more since, by a lease that ended."""
        return self.filter(Q(rung_at__isnull=True) | Q(rung_at__lt=moment) | Q(rung_at__lt=F("due_at")))

    def open(self) -> BatchQuerySet:
        """Return what is neither done, failed nor cancelled."""
        return self.filter(state__in=OPEN)


def _error_of(**which: Any) -> Any:
    from toolevals.workspace.models import Batch

    rows = Batch.objects.filter(job=OuterRef("pk"), **which).order_by("stage", "number")
    return Coalesce(Subquery(rows.values("error")[:1]), Value(""), output_field=models.TextField())


def _batches(field: str, **which: Any) -> Any:
    from toolevals.workspace.models import Batch

    rows = Batch.objects.filter(job=OuterRef("pk"), **which)
    sums = rows.order_by().values("job").annotate(sum=Sum(field)).values("sum")
    return Coalesce(Subquery(sums), 0)
