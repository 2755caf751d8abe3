"""Tell whose turn it is: the more urgent first, then the project with the least at work, then the oldest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from celery import current_app
from django.db.models import Exists, OuterRef, Subquery, UUIDField, Value

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import SLOW_QUEUES, Batch, BatchState, Job, JobState, Project, Queue
from toolevals.workspace.querysets.jobs import BatchQuerySet, JobQuerySet
from toolevals.workspace.querysets.prepared import A_MOMENT, A_TEXT, ANOTHER_MOMENT, PreparedQuery, an_id

# An announced batch that no one has claimed after so long is announced again.
RING_AGAIN = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Turn:
    """A batch that should be announced."""

    batch: UUID
    task: str
    queue: str


def queues_served() -> list[str]:
    """Return the queues that this worker serves, in the order of `Queue`; all of them where no worker is."""
    served = current_app.amqp.queues.consume_from
    return [queue for queue in Queue.values if queue in served]


def quick_work_waits() -> bool:
    """Return whether work of another kind than agents' and judges' is due in a queue of this worker's."""
    quick = [queue for queue in queues_served() if queue not in SLOW_QUEUES]
    now = database_now()
    quick = [queue for queue in quick if _QUEUED.rows(queue=queue, now=now)]
    if not quick:
        return False
    waits = Batch.objects.filter(job=OuterRef("pk"), stage=OuterRef("stage"), state=BatchState.QUEUED)
    due = Subquery(waits.filter(queue__in=quick, due_at__lte=now).values("pk")[:1])
    return Job.objects.filter(state=JobState.RUNNING).alias(due=due).filter(due__isnull=False).exists()


def next_turns(now: datetime, ahead: Mapping[str, int], *, of_others: bool = True) -> list[Turn]:
    """Return what to announce, so that up to `ahead` batches of each queue are announced and not taken up yet.

    `of_others`: whether those count that were announced before.
    """
    held = _held(now)
    left = {queue: most - (held.announced[queue] if of_others else 0) for queue, most in ahead.items()}
    queues = [queue for queue, free in left.items() if free > 0]
    if not queues:
        return []
    found: list[Sequence[Any]] = [row for row in _OVERDUE.values(now=now, before=now - RING_AGAIN) if row[0] in queues]
    found += (row for queue in queues for row in _waiting(queue, left[queue], now))
    turns = []
    for queue, _, _, _, pk, task in sorted(found, key=held.order):
        if left[queue] > 0:
            left[queue] -= 1
            turns.append(Turn(pk, task, queue))
    return turns


@dataclass(frozen=True, slots=True)
class _Held:
    """Batches that are announced or at work, by queue and project, and those that are announced only, by queue."""

    by_project: Counter[tuple[str, UUID]]
    announced: Counter[str]

    def order(self, row: Sequence[Any]) -> tuple[int, int, int, UUID]:
        """Return the key that sorts queue, priority, project, place in the project, batch and task."""
        queue, priority, project, place, pk, _ = row
        return Queue.values.index(queue), -priority, self.by_project[queue, project] + place, pk


def _held(now: datetime) -> _Held:
    by_project: Counter[tuple[str, UUID]] = Counter()
    announced: Counter[str] = Counter()
    for queue, project in _AT_WORK.values(now=now):
        by_project[queue, project] += 1
    for queue, project in _ANNOUNCED.values(before=now - RING_AGAIN):
        # None: its job was cancelled or paused since.
        if project is not None:
            by_project[queue, project] += 1
            announced[queue] += 1
    return _Held(by_project, announced)


def _waiting(queue: str, most: int, now: datetime) -> Iterator[Sequence[Any]]:
    """Yield `most` batches of each project that wait in a queue and were not announced lately, as `_Held.order` has it.

    An index leads to each, however many wait: of the more urgent jobs first, then of the oldest, what is due longest.
    """
    values = {"queue": queue, "now": now, "before": now - RING_AGAIN}
    if not _QUEUED.rows(queue=queue, now=now):
        return
    for project, first in _FIRST_JOBS.values(**values):
        places: Counter[int] = Counter()
        for job in _jobs(project, first, most, values):
            for pk, task, priority in _batches(most).values(job=job, **values):
                places[priority] += 1
                yield queue, priority, project, places[priority], pk, task
            if places.total() >= most:
                break


def _jobs(project: UUID, first: UUID | None, most: int, values: Mapping[str, Any]) -> Iterator[UUID]:
    """Yield the jobs of a project that have work waiting. Those behind the first are asked for when it has too few."""
    if first is not None:
        yield first
        yield from (job for (job,) in _further_jobs(most).values(project=project, **values) if job != first)


# Values are asked for by subqueries: the planners would make joins of them, and begin with all jobs or all batches.
def _project(**which: Any) -> Subquery:
    jobs = Job.objects.filter(pk=OuterRef("job_id"), **which)
    return Subquery(jobs.values("project")[:1], output_field=UUIDField())


def _next_batches(queue: str, now: datetime, before: datetime, job: Any, stage: Any) -> BatchQuerySet:
    waiting = Batch.objects.filter(job=job, stage=stage, state=BatchState.QUEUED, queue=queue, due_at__lte=now)
    return waiting.not_rung_since(before).order_by("due_at", "id")


def _next_jobs(queue: str, now: datetime, before: datetime, project: Any) -> JobQuerySet:
    waits = Subquery(_next_batches(queue, now, before, OuterRef("pk"), OuterRef("stage")).values("pk")[:1])
    jobs = Job.objects.filter(project=project, state=JobState.RUNNING)
    return jobs.alias(waits=waits).filter(waits__isnull=False).order_by("-priority", "id")


def _at_work(now: datetime) -> Any:
    return Batch.objects.filter(state=BatchState.LEASED, due_at__gt=now).order_by().values_list("queue", _project())


def _announced(before: datetime) -> Any:
    rung = Batch.objects.filter(state=BatchState.QUEUED, rung_at__isnull=False, rung_at__gte=before)
    return rung.order_by().values_list("queue", _project(state=JobState.RUNNING))


def _overdue(now: datetime, before: datetime) -> Any:
    """Return what workers left behind, which is little: the first in their projects."""
    running = Job.objects.filter(pk=OuterRef("job_id"), stage=OuterRef("stage"), state=JobState.RUNNING)
    left = Batch.objects.filter(state=BatchState.LEASED, due_at__lte=now).not_rung_since(before).order_by()
    priority = Subquery(running.values("priority")[:1])
    return left.filter(Exists(running)).values_list("queue", priority, _project(), Value(0), "pk", "task")


def _queued(queue: str, now: datetime) -> Any:
    return Batch.objects.filter(queue=queue, state=BatchState.QUEUED, due_at__lte=now).order_by().values_list("pk")[:1]


def _first_jobs(queue: str, now: datetime, before: datetime) -> Any:
    first = Subquery(_next_jobs(queue, now, before, OuterRef("pk")).values("pk")[:1])
    return Project.with_trash.order_by().values_list("pk", first)


# By values: a plan for all values could use no index that holds the rows of one state.
_WAITING = {"queue": A_TEXT, "now": A_MOMENT, "before": ANOTHER_MOMENT}
_AT_WORK = PreparedQuery(_at_work, {"now": A_MOMENT}, by_values=True)
_ANNOUNCED = PreparedQuery(_announced, {"before": A_MOMENT}, by_values=True)
_OVERDUE = PreparedQuery(_overdue, {"now": A_MOMENT, "before": ANOTHER_MOMENT}, by_values=True)
_QUEUED = PreparedQuery(_queued, {"queue": A_TEXT, "now": A_MOMENT}, by_values=True)
_FIRST_JOBS = PreparedQuery(_first_jobs, _WAITING, by_values=True)


@cache
def _further_jobs(most: int) -> PreparedQuery:
    def build(queue: str, now: datetime, before: datetime, project: UUID) -> Any:
        return _next_jobs(queue, now, before, project).values_list("pk")[:most]

    return PreparedQuery(build, _WAITING | {"project": an_id(1)}, by_values=True)


@cache
def _batches(most: int) -> PreparedQuery:
    def build(queue: str, now: datetime, before: datetime, job: UUID) -> Any:
        mine = Job.objects.filter(pk=job)
        next_ones = _next_batches(queue, now, before, job, Subquery(mine.values("stage")[:1]))
        return next_ones.values_list("pk", "task", Subquery(mine.values("priority")[:1]))[:most]

    return PreparedQuery(build, _WAITING | {"job": an_id(1)}, by_values=True)
