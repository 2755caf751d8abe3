"""Stores background work as rows: a job, split into batches that workers lease, and how fast it goes.

The rows are the queue. A message in the broker only says that a batch may be due.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from toolevals.grading.reading.reading_report import Readings
from toolevals.workspace.accounts.models import User
from toolevals.workspace.clock import database_now
from toolevals.workspace.fields import DocumentField, MomentField, OwnPathField, PublicIdField
from toolevals.workspace.projects.models import Project

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
        running = Job.objects.filter(pk=OuterRef("job_id"), stage=OuterRef("stage"), state="running")
        return self.filter(Exists(running), state__in=OPEN, due_at__lte=now)

    def not_rung_since(self, moment: datetime) -> BatchQuerySet:
        """Leave out what was announced after `moment` and has not become due once more since, by a lease that ended."""
        return self.filter(Q(rung_at__isnull=True) | Q(rung_at__lt=moment) | Q(rung_at__lt=F("due_at")))

    def open(self) -> BatchQuerySet:
        """Return what is neither done, failed nor cancelled."""
        return self.filter(state__in=OPEN)


def _error_of(**which: Any) -> Any:
    rows = Batch.objects.filter(job=OuterRef("pk"), **which).order_by("stage", "number")
    return Coalesce(Subquery(rows.values("error")[:1]), Value(""), output_field=models.TextField())


def _batches(field: str, **which: Any) -> Any:
    rows = Batch.objects.filter(job=OuterRef("pk"), **which)
    sums = rows.order_by().values("job").annotate(sum=Sum(field)).values("sum")
    return Coalesce(Subquery(sums), 0)


# A rate over less time says nothing.
LEAST_SECONDS = 3.0
# So long a failed job keeps a page that counts anew by itself from beginning another.
FAILED_STANDS = timedelta(hours=1)
# Of a batch that failed before its error was always written down.
NO_REASON = "No reason was written down. The log of the worker may say it."


@dataclass(frozen=True, slots=True)
class Pace:
    """`rate`: items a second. `left`: how long the rest takes at that rate."""

    rate: float
    left: timedelta

    @classmethod
    def of(cls, *, done: int, left: int, seconds: float) -> Pace | None:
        """Return the pace of who did `done` items in so many seconds; None where that says nothing yet."""
        if seconds < LEAST_SECONDS or done <= 0:
            return None
        rate = done / seconds
        return cls(rate, timedelta(seconds=round(left / rate)))

    @property
    def left_seconds(self) -> float:
        """Return the time left as a number, for those that read attributes and call nothing."""
        return self.left.total_seconds()

    @property
    def rate_words(self) -> str:
        """Return the rate as people say it: a second, or where that is less than one, a minute."""
        if self.rate >= 1:
            return f"{self.rate:,.0f} a second" if self.rate >= 10 else f"{self.rate:.1f} a second"
        return f"{self.rate * 60:.1f} a minute"

    @property
    def left_words(self) -> str:
        """Return the time left, as exactly as it is worth knowing."""
        minutes = self.left.total_seconds() / 60
        if minutes < 1:
            return f"{self.left.seconds} s"
        return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


# The kind of a job that destroys what was deleted. `trashed_with` names what that is.
DESTROY = "destroy"


class JobState(models.TextChoices):
    """The stage of a job. Failed: some batch used up its attempts; it can be retried."""

    RUNNING = "running"
    # Nothing of it is begun until someone resumes it.
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(models.Model):
    """Long work with progress. Its batches run stage by stage: those of a stage at once, in any order."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="jobs")
    # What it does, for people: "import", "run", "grading".
    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    # Where its outcome can be seen, once there is one: a path of this application.
    result_path = OwnPathField(max_length=300, blank=True)
    state = models.CharField(max_length=12, choices=JobState.choices, default=JobState.RUNNING)
    stage = models.PositiveSmallIntegerField(default=0)
    # Higher first.
    priority = models.SmallIntegerField(default=0)
    # What the job found out: counts, and errors by line.
    report = DocumentField(default=dict)
    # When work on the stage was begun, or taken up again, and how many of its items were done then: for the rate.
    pace_since = models.DateTimeField(null=True)
    pace_done = models.PositiveIntegerField(default=0)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    # The id of what was deleted together with it: it is not listed, and destroyed with that. Of a job that destroys,
    # which is listed and stays: the id of what it destroys.
    trashed_with = models.UUIDField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "-id"], name="job_project"),
            models.Index(fields=["trashed_with"], name="job_trashed", condition=models.Q(trashed_with__isnull=False)),
            models.Index(fields=["project", "-priority", "id"], name="job_turn", condition=models.Q(state="running")),
        ]

    @property
    def is_running(self) -> bool:
        return self.state == JobState.RUNNING

    @property
    def is_paused(self) -> bool:
        return self.state == JobState.PAUSED

    @property
    def is_open(self) -> bool:
        """Return whether it will end of itself, or once it is resumed."""
        return self.state in (JobState.RUNNING, JobState.PAUSED)

    @property
    def stands(self) -> bool:
        """Return whether a page shows it and begins no other by itself: it is at work, or failed within the hour."""
        if self.state == JobState.FAILED and self.finished_at is not None:
            return database_now() - self.finished_at < FAILED_STANDS
        return self.is_open

    @property
    def reason(self) -> str:
        """Say why it failed, by the first batch that did; empty where it did not. Queries as `progress` does."""
        if self.state != JobState.FAILED:
            return ""
        if "failed_for" not in vars(self):
            found = self.batches.filter(state=BatchState.FAILED).order_by("stage", "number")
            return found.values_list("error", flat=True).first() or NO_REASON
        return str(vars(self)["failed_for"]) or NO_REASON

    @property
    def state_words(self) -> str:
        """Return its state for a cell of a table, and why it failed."""
        return f"failed: {self.reason[:200]}" if self.reason else str(self.state)

    @property
    def can_be_cancelled(self) -> bool:
        """Return whether it may end before its work is done: what is destroyed by half cannot be restored."""
        return self.is_open and self.kind != DESTROY

    @property
    def can_be_retried(self) -> bool:
        return self.state in (JobState.FAILED, JobState.CANCELLED)

    @property
    def progress(self) -> tuple[int, int]:
        """Items done and items in all; without a query if the row was read `with_progress()`."""
        if not hasattr(self, "items_total"):
            sums = self.batches.aggregate(done=models.Sum("done"), total=models.Sum("size"))
            return sums["done"] or 0, sums["total"] or 0
        return self.items_done, self.items_total  # type: ignore[attr-defined]

    @property
    def pace(self) -> Pace | None:
        """Return how fast the work on the stage goes; None where nothing can be said. Queries as `progress` does."""
        if not self.is_running or self.pace_since is None:
            return None
        done, total = self.stage_progress
        seconds = (database_now() - self.pace_since).total_seconds()
        return Pace.of(done=done - self.pace_done, left=total - done, seconds=seconds)

    @property
    def waiting(self) -> str:
        """Say what its work waits for outside, in a sentence; known only if the row was read `with_progress()`."""
        return str(vars(self).get("waits_for", ""))

    @property
    def stage_progress(self) -> tuple[int, int]:
        """Items of the current stage that are done, and in all; as `progress`."""
        if not hasattr(self, "stage_total"):
            batches = self.batches.filter(stage=self.stage)
            sums = batches.aggregate(done=models.Sum("done"), total=models.Sum("size"))
            return sums["done"] or 0, sums["total"] or 0
        return self.stage_done, self.stage_total  # type: ignore[attr-defined]

    @property
    def read(self) -> Readings:
        """Return what the file that it read was read as, and what was left out; empty where it read none."""
        return Readings.of_report(self.report)

    @property
    def errors(self) -> list[dict[str, Any]]:
        """Return what is wrong with the input: `line` (may be None), `pointer` and `message`; the first hundred."""
        found: list[dict[str, Any]] = self.report.get("errors", [])[:100]
        return found

    def failures(self) -> models.QuerySet[Batch]:
        """Return the batches that failed, and those that have an error and are not done."""
        troubled = models.Q(state=BatchState.FAILED) | ~models.Q(error="")
        return self.batches.filter(troubled).exclude(state=BatchState.DONE).order_by("stage", "number")


class Queue(models.TextChoices):
    """The kind of work of a batch, so that one kind need not wait for another; each worker serves some kinds.

    In this order a worker that serves several takes them.
    """

    IO = "io"
    GRADE = "grade"
    JUDGE = "judge"
    AGENT = "agent"


# Work that mostly waits for others' answers, for minutes: it gives way to the rest.
SLOW_QUEUES = (Queue.JUDGE, Queue.AGENT)


# The number of the first batch of each stage.
FIRST_NUMBER = 1


class BatchState(models.TextChoices):
    """The stage of a batch. Leased and overdue counts as queued again."""

    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Batch(models.Model):
    """A part of a job that one worker does at one go, named by the Celery task that does it."""

    id = PublicIdField()
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="batches")
    stage = models.PositiveSmallIntegerField(default=0)
    number = models.PositiveIntegerField()
    # The Celery task: called with the batch's id.
    task = models.CharField(max_length=120)
    queue = models.CharField(max_length=10, choices=Queue.choices, default=Queue.IO)
    # What to do: ids and ranges.
    payload = DocumentField(default=dict)
    # How many items it holds, and how many of them are done: progress is their sum.
    size = models.PositiveIntegerField(default=1)
    done = models.PositiveIntegerField(default=0)
    # How many were done when a worker that held it died, at most.
    furthest = models.PositiveIntegerField(default=0, db_default=0)
    state = models.CharField(max_length=12, choices=BatchState.choices, default=BatchState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    # When queued: not before. When leased: until then.
    due_at = models.DateTimeField()
    # When the broker was last told of it. Null: not since it became due.
    rung_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    objects = BatchQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["job", "stage", "number"], name="batch_number"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["queue", "due_at", "id"], name="batch_due", condition=models.Q(state="queued")),
            models.Index(fields=["job", "stage", "state", "queue", "due_at", "id"], name="batch_turn"),
            models.Index(fields=["job"], name="batch_first", condition=models.Q(number=FIRST_NUMBER)),
            models.Index(fields=["due_at"], name="batch_at_work", condition=models.Q(state="leased")),
            models.Index(
                fields=["rung_at"], name="batch_rung", condition=models.Q(state="queued", rung_at__isnull=False)
            ),
        ]


class SweepTask(models.Model):
    """The time at which a task of the sweeper's table runs next: the row that workers compete for."""

    # The dotted path in `SWEEP_TASKS`.
    name = models.CharField(max_length=120, primary_key=True)
    due_at = models.DateTimeField()
    ran_at = models.DateTimeField(null=True)


class Worker(models.Model):
    """A worker that runs, or ran a day ago at most: it signs its row every few seconds."""

    id = PublicIdField()
    host = models.CharField(max_length=200)
    process = models.PositiveIntegerField()
    # Their names, separated by commas.
    queues = models.CharField(max_length=100)
    started_at = MomentField(auto_now_add=True)
    seen_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["host", "id"]
