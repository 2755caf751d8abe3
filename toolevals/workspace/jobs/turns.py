"""Tell whose turn it is: the more urgent first, then the project with the least at work, then the oldest.

Workers are told through the broker that batches are due. A ring may get lost or come twice: it decides nothing.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery, UUIDField, Value
from kombu.exceptions import OperationalError
from kombu.transport.memory import Channel

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.models import BatchQuerySet, JobQuerySet
from toolevals.workspace.models import SLOW_QUEUES, Batch, BatchState, Job, JobState, Project, Queue

logger = logging.getLogger(__name__)

# An announced batch that no one has claimed after so long is announced again.
RING_AGAIN = timedelta(seconds=15)
# Tasks that this process has met and does not know, and those of them that it has named in the log.
_unknown: set[str] = set()
_named: set[str] = set()


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
    quick = [queue for queue in quick if _is_queued(queue, now)]
    if not quick:
        return False
    waits = Batch.objects.filter(job=OuterRef("pk"), stage=OuterRef("stage"), state=BatchState.QUEUED)
    waits = waits.exclude(task__in=unknown_tasks())
    due = Subquery(waits.filter(queue__in=quick, due_at__lte=now).values("pk")[:1])
    return Job.objects.filter(state=JobState.RUNNING).alias(due=due).filter(due__isnull=False).exists()


def unknown_tasks() -> tuple[str, ...]:
    """Return the names of tasks that this process has met and does not know: a newer version's, in an update."""
    return tuple(sorted(_unknown - current_app.tasks.keys())) if _unknown else ()


def leave_unknown(tasks: Iterable[str]) -> bool:
    """Leave the batches of tasks that this process does not know for others; return whether any such task is new."""
    new = {name for name in tasks if name not in current_app.tasks} - _unknown
    if new:
        # A process of the web server may not have loaded the tasks.
        current_app.autodiscover_tasks(force=True)
    found = new - current_app.tasks.keys()
    _unknown.update(found)
    return bool(found)


def name_unknown() -> None:
    """Name each task that is left for others in the log, once: in a worker's main process, for its pool as well."""
    for name in sorted(_unknown - _named):
        logger.warning("The task %s is not known to this version: its batches are left for workers that know it.", name)
    _named.update(_unknown)


def next_turns(now: datetime, ahead: Mapping[str, int], *, of_others: bool = True) -> list[Turn]:
    """Return what to announce, so that up to `ahead` batches of each queue are announced and not taken up yet.

    `of_others`: whether those count that were announced before. What this version does not know counts for nothing.
    """
    turns = _turns(now, ahead, of_others, unknown_tasks())
    while leave_unknown(turn.task for turn in turns):
        turns = _turns(now, ahead, of_others, unknown_tasks())
    return turns


def _turns(now: datetime, ahead: Mapping[str, int], of_others: bool, unknown: tuple[str, ...]) -> list[Turn]:
    queries = _Queries(unknown)
    held = _held(now, queries)
    left = {queue: most - (held.announced[queue] if of_others else 0) for queue, most in ahead.items()}
    queues = [queue for queue, free in left.items() if free > 0]
    if not queues:
        return []
    left_behind = queries.overdue(now=now, before=now - RING_AGAIN)
    found: list[Sequence[Any]] = [row for row in left_behind if row[0] in queues]
    found += (row for queue in queues for row in _waiting(queue, left[queue], now, queries))
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


def _held(now: datetime, queries: _Queries) -> _Held:
    by_project: Counter[tuple[str, UUID]] = Counter()
    announced: Counter[str] = Counter()
    for queue, project in queries.at_work(now=now):
        by_project[queue, project] += 1
    for queue, project in queries.announced(before=now - RING_AGAIN):
        # None: its job was cancelled or paused since.
        if project is not None:
            by_project[queue, project] += 1
            announced[queue] += 1
    return _Held(by_project, announced)


def _waiting(queue: str, most: int, now: datetime, queries: _Queries) -> Iterator[Sequence[Any]]:
    """Yield `most` batches of each project that wait in a queue and were not announced lately, as `_Held.order` has it.

    An index leads to each, however many wait: of the more urgent jobs first, then of the oldest, what is due longest.
    """
    before = now - RING_AGAIN
    if not _is_queued(queue, now):
        return
    for project, first in queries.first_jobs(queue, now, before):
        places: Counter[int] = Counter()
        for job in _jobs(first, queries.further_jobs(queue, now, before, project, most)):
            for pk, task, priority in queries.of_job(queue, now, before, job, most):
                places[priority] += 1
                yield queue, priority, project, places[priority], pk, task
            if places.total() >= most:
                break


def _jobs(first: UUID | None, further: Iterable[UUID]) -> Iterator[UUID]:
    """Yield the jobs of a project that have work waiting. Those behind the first are asked for when it has too few."""
    if first is not None:
        yield first
        yield from (job for job in further if job != first)


def _is_queued(queue: str, now: datetime) -> bool:
    return Batch.objects.filter(queue=queue, state=BatchState.QUEUED, due_at__lte=now).exists()


# Values are asked for by subqueries: the planners would make joins of them, and begin with all jobs or all batches.
def _project(**which: Any) -> Subquery:
    jobs = Job.objects.filter(pk=OuterRef("job_id"), **which)
    return Subquery(jobs.values("project")[:1], output_field=UUIDField())


class _Queries:
    """The queries of a ring, without the batches of some tasks."""

    def __init__(self, unknown: Iterable[str]) -> None:
        self._batches = Batch.objects.exclude(task__in=unknown)

    def at_work(self, now: datetime) -> Any:
        leased = self._batches.filter(state=BatchState.LEASED, due_at__gt=now)
        return leased.order_by().values_list("queue", _project())

    def announced(self, before: datetime) -> Any:
        rung = self._batches.filter(state=BatchState.QUEUED, rung_at__isnull=False, rung_at__gte=before)
        return rung.order_by().values_list("queue", _project(state=JobState.RUNNING))

    def overdue(self, now: datetime, before: datetime) -> Any:
        """Return what workers left behind, which is little: the first in their projects."""
        running = Job.objects.filter(pk=OuterRef("job_id"), stage=OuterRef("stage"), state=JobState.RUNNING)
        left = self._batches.filter(state=BatchState.LEASED, due_at__lte=now).not_rung_since(before).order_by()
        priority = Subquery(running.values("priority")[:1])
        return left.filter(Exists(running)).values_list("queue", priority, _project(), Value(0), "pk", "task")

    def _next(self, queue: str, now: datetime, before: datetime, job: Any, stage: Any) -> BatchQuerySet:
        waiting = self._batches.filter(job=job, stage=stage, state=BatchState.QUEUED, queue=queue, due_at__lte=now)
        return waiting.not_rung_since(before).order_by("due_at", "id")

    def _next_jobs(self, queue: str, now: datetime, before: datetime, project: Any) -> JobQuerySet:
        waits = Subquery(self._next(queue, now, before, OuterRef("pk"), OuterRef("stage")).values("pk")[:1])
        jobs = Job.objects.filter(project=project, state=JobState.RUNNING)
        return jobs.alias(waits=waits).filter(waits__isnull=False).order_by("-priority", "id")

    def first_jobs(self, queue: str, now: datetime, before: datetime) -> Any:
        first = Subquery(self._next_jobs(queue, now, before, OuterRef("pk")).values("pk")[:1])
        return Project.with_trash.order_by().values_list("pk", first)

    def further_jobs(self, queue: str, now: datetime, before: datetime, project: UUID, most: int) -> Any:
        return self._next_jobs(queue, now, before, project).values_list("pk", flat=True)[:most]

    def of_job(self, queue: str, now: datetime, before: datetime, job: UUID, most: int) -> Any:
        mine = Job.objects.filter(pk=job)
        next_ones = self._next(queue, now, before, job, Subquery(mine.values("stage")[:1]))
        return next_ones.values_list("pk", "task", Subquery(mine.values("priority")[:1]))[:most]


# So many batches of a queue are announced and not yet taken up; each one that is taken up announces the next. Whoever's
# turn it is therefore waits for few others, and the broker never holds a long queue.
RING_AHEAD = 8
RING_AHEAD_OF_SLOW = 2
AHEAD = {queue: RING_AHEAD_OF_SLOW if queue in SLOW_QUEUES else RING_AHEAD for queue in Queue.values}
# In the in-memory broker, to which only its own worker listens: what waits there, waits for that worker.
RING_AHEAD_LOCALLY = 1
# A ring for work without batches that no one heard is worth nothing soon: the sweeper rings again.
RING_SECONDS = 10
# For a connection that went stale in the pool; a request never waits for a broker that is down.
ONE_MORE_TRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0}


class LocalDoorbell:
    """The in-memory broker can be heard only in the process that holds both the worker and its sweeper."""

    pid: int | None = None


def can_ring() -> bool:
    """Return whether a message sent from this process can reach a worker."""
    return bool(settings.REDIS_URL) or LocalDoorbell.pid == os.getpid()


def ring_due() -> int:
    """Announce the batches that are due and whose turn it is; return how many.

    A broker that is down is logged and otherwise ignored: the sweeper rings again.
    """
    if not can_ring():
        return 0
    now = database_now()
    if settings.REDIS_URL:
        turns = next_turns(now, AHEAD)
    else:
        served = queues_served()
        free = RING_AHEAD_LOCALLY - _waiting_here(served)
        # What others have announced waits for them, and not here.
        turns = next_turns(now, dict.fromkeys(served, free), of_others=False)[:free] if free > 0 else []
    if not turns:
        return 0
    Batch.objects.filter(pk__in=[turn.batch for turn in turns]).update(rung_at=now)
    try:
        for turn in turns:
            current_app.send_task(
                turn.task, args=[str(turn.batch)], queue=turn.queue, retry=True, retry_policy=ONE_MORE_TRY
            )
    except (OperationalError, OSError) as error:
        logger.warning("The broker cannot be reached, the sweeper will try again: %s", error)
        Batch.objects.filter(pk__in=[turn.batch for turn in turns], rung_at=now).update(rung_at=None)
        return 0
    return len(turns)


def _waiting_here(queues: Iterable[str]) -> int:
    """Return how many messages wait in the in-memory broker."""
    return sum(Channel.queues[queue].qsize() for queue in queues if queue in Channel.queues)


def notify_after_commit() -> None:
    """Ring once the current transaction is committed; nothing that goes wrong there undoes the work."""
    if can_ring():
        transaction.on_commit(ring_due, robust=True)


def ring_task(task: str, queue: Queue) -> None:
    """Ring for work whose rows are no batches. A broker that is down is logged: the sweeper rings again."""
    try:
        current_app.send_task(task, queue=queue, expires=RING_SECONDS, retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("The broker cannot be reached, the sweeper will try again: %s", error)
