"""Tells workers, through the broker, that batches are due. A ring may get lost or come twice: it decides nothing."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError
from kombu.transport.memory import Channel

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.turns import next_turns, queues_served
from toolevals.workspace.models import SLOW_QUEUES, Batch, Queue

logger = logging.getLogger(__name__)

# So many batches of a queue are announced and not yet taken up; each one that is taken up announces the next. Whoever's
# turn it is therefore waits for few others, and the broker never holds a long queue.
RING_AHEAD = 8
RING_AHEAD_OF_SLOW = 2
AHEAD = {queue: RING_AHEAD_OF_SLOW if queue in SLOW_QUEUES else RING_AHEAD for queue in Queue.values}
# In the in-memory broker, to which only its own worker listens: what waits there, waits for that worker.
RING_AHEAD_LOCALLY = 1
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
