"""Tell whose turn it is: the more urgent first, then the project with the least at work, then the oldest."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from celery import current_app
from django.db.models import Count, F, Q, Window
from django.db.models.functions import RowNumber

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import SLOW_QUEUES, Batch, BatchState, Queue
from toolevals.workspace.querysets.prepared import A_MOMENT, A_NUMBER, ANOTHER_MOMENT, PreparedQuery

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
    waiting = Batch.objects.due(database_now()).filter(queue__in=quick, state=BatchState.QUEUED)
    return waiting.exclude(task__in=unknown_tasks()).exists()


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
    held = _held(now, unknown)
    left = {queue: most - (held.announced[queue] if of_others else 0) for queue, most in ahead.items()}
    queues = [queue for queue, free in left.items() if free > 0]
    if not queues:
        return []
    # Of no project can more be next.
    found = _waiting(tuple(queues), unknown).values(now=now, before=now - RING_AGAIN, most=max(left.values()))
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


def _held(now: datetime, unknown: tuple[str, ...]) -> _Held:
    by_project: Counter[tuple[str, UUID]] = Counter()
    announced: Counter[str] = Counter()
    for queue, project, at_work, rung in _counts(unknown).values(now=now, before=now - RING_AGAIN):
        by_project[queue, project] = at_work + rung
        announced[queue] += rung
    return _Held(by_project, announced)


@cache
def _counts(unknown: tuple[str, ...]) -> PreparedQuery:
    def build(now: datetime, before: datetime) -> Any:
        at_work = Q(state=BatchState.LEASED, due_at__gt=now)
        rung = Q(state=BatchState.QUEUED, rung_at__gte=before, job__state="running")
        rows = Batch.objects.filter(at_work | rung).exclude(task__in=unknown).order_by()
        counted = rows.values_list("queue", "job__project_id")
        return counted.annotate(at_work=Count("pk", filter=at_work), rung=Count("pk", filter=rung))

    return PreparedQuery(build, {"now": A_MOMENT, "before": ANOTHER_MOMENT}, by_values=True)


@cache
def _waiting(queues: tuple[str, ...], unknown: tuple[str, ...]) -> PreparedQuery:
    """Return the query of what waits in these queues and was not announced lately: `most` of each project."""

    def build(now: datetime, before: datetime, most: int) -> Any:
        place = Window(
            RowNumber(), partition_by=[F("queue"), F("job__project_id"), F("job__priority")], order_by=F("id").asc()
        )
        rows = Batch.objects.due(now).filter(queue__in=queues).exclude(task__in=unknown).not_rung_since(before)
        found = rows.annotate(place=place).filter(place__lte=most)
        return found.values_list("queue", "job__priority", "job__project_id", "place", "id", "task")

    return PreparedQuery(build, {"now": A_MOMENT, "before": ANOTHER_MOMENT, "most": A_NUMBER}, by_values=True)
