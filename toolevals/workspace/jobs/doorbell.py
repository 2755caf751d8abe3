"""Telling workers, through the broker, that batches are due. A ring may get lost or come twice: it decides nothing."""

from __future__ import annotations

import logging
import os
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError
from kombu.transport.memory import Channel

from toolevals.workspace.models import Batch

logger = logging.getLogger(__name__)

# So many batches are announced at once, the most urgent first; each one that ends announces the next. A job that
# matters more therefore waits for few others, and the broker never holds a long queue.
RING_AHEAD = 32
# In the in-memory broker, to which only its own worker listens: what waits there, waits for that worker.
RING_AHEAD_LOCALLY = 1
# An announced batch that nobody has claimed after so long is announced again.
RING_AGAIN = timedelta(seconds=15)
# For a connection that went stale in the pool; a request never waits for a broker that is down.
ONE_MORE_TRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0}


class LocalDoorbell:
    """The in-memory broker can be heard only in the process that holds both the worker and its sweeper."""

    pid: int | None = None


def can_ring() -> bool:
    """Return whether a message sent from this process can reach a worker."""
    return bool(settings.REDIS_URL) or LocalDoorbell.pid == os.getpid()


def ring_due(limit: int = RING_AHEAD) -> int:
    """Announce the most urgent batches that are due and were not announced lately; return how many.

    A broker that is down is logged and otherwise ignored: the sweeper rings again.
    """
    if not can_ring():
        return 0
    if not settings.REDIS_URL:
        limit = min(limit, RING_AHEAD_LOCALLY - _waiting_here())
    if limit <= 0:
        return 0
    now = timezone.now()
    waiting = Batch.objects.due(now).not_rung_since(now - RING_AGAIN).most_urgent_first()
    batches = list(waiting.values_list("id", "task")[:limit])
    if not batches:
        return 0
    Batch.objects.filter(pk__in=[pk for pk, _ in batches]).update(rung_at=now)
    try:
        for pk, task in batches:
            current_app.send_task(task, args=[str(pk)], retry=True, retry_policy=ONE_MORE_TRY)
    except (OperationalError, OSError) as error:
        logger.warning("The broker cannot be reached, the sweeper will try again: %s", error)
        Batch.objects.filter(pk__in=[pk for pk, _ in batches], rung_at=now).update(rung_at=None)
        return 0
    return len(batches)


def _waiting_here() -> int:
    """Return how many messages wait in the in-memory broker."""
    queue = Channel.queues.get(settings.CELERY_TASK_DEFAULT_QUEUE)
    return int(queue.qsize()) if queue else 0


def ring_after_commit(limit: int = RING_AHEAD) -> None:
    """Ring once the transaction at hand is committed; nothing that goes wrong there undoes the work."""
    if can_ring():
        transaction.on_commit(lambda: ring_due(limit), robust=True)
