"""Tell what the body of every Celery task calls: claim, work, complete, or write down why not."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from toolevals import life
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.jobs.completion import batch_abandon, batch_fail
from toolevals.workspace.jobs.leases import JobCancelled, Lease, LeaseLost, MustGiveWay, lease_claim

logger = logging.getLogger(__name__)


class BatchRefused(Exception):  # noqa: N818 - the batch's input is at fault
    """The batch can never succeed, however often it is tried: its input is wrong.

    `errors` are shown with the job: dictionaries of `line` (from 1), `pointer` and `message`. `undo` takes back what
    the batch was for, in the transaction that writes the refusal down.
    """

    def __init__(
        self, message: str, errors: Sequence[dict[str, Any]] = (), *, undo: Callable[[], None] | None = None
    ) -> None:
        super().__init__(message)
        self.errors = list(errors)
        self.undo = undo


def batch_work(batch_id: str, work: Callable[[Lease], None]) -> None:
    """Do `work` on a batch if it is due and no one else has it; otherwise return.

    An exception counts as an attempt, and the batch comes again after a while; `BatchRefused` and `InvalidDocument`
    fail it at once. A lost lease and a cancelled job stop it silently; `MustGiveWay` puts the batch back.
    """
    lease = lease_claim(batch_id)
    if lease is None:
        return
    try:
        with _heartbeat(lease):
            _do(work, lease)
        if not lease.finished:
            with lease.finish():
                pass
    except LeaseLost:
        logger.info("Batch %s went to another worker.", batch_id)
    except JobCancelled:
        batch_abandon(lease.batch, lease.token)
    except (BatchRefused, InvalidDocument) as error:
        _refuse(lease, error)
    except Exception as error:
        logger.exception("Batch %s failed at attempt %s.", batch_id, lease.batch.attempts)
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        batch_fail(lease.batch, lease.token, f"{type(error).__name__}: {error}", again=True)


def _do(work: Callable[[Lease], None], lease: Lease) -> None:
    try:
        work(lease)
    except MustGiveWay:
        lease.give_way()


def _refuse(lease: Lease, error: BatchRefused | InvalidDocument) -> None:
    errors: list[dict[str, Any]]
    if isinstance(error, BatchRefused):
        errors = error.errors
    else:
        errors = [{"line": None, "pointer": each.pointer, "message": each.message} for each in error.problems]
    try:
        with lease.transaction():
            if errors:
                lease.report({"errors": errors})
            if isinstance(error, BatchRefused) and error.undo:
                error.undo()
            batch_fail(lease.batch, lease.token, str(error), again=False)
    except LeaseLost:
        logger.info("Batch %s went to another worker.", lease.batch.pk)
    except JobCancelled:
        batch_abandon(lease.batch, lease.token)


@contextmanager
def _heartbeat(lease: Lease) -> Iterator[None]:
    """Extend the lease from a thread of its own while work goes on, so that a slow batch is not taken for a dead one.

    Not forever: after `BATCH_MAX_SECONDS` a batch counts as hung unless it writes. Its lease runs out, and its process
    ends.
    """
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(lease, stop), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(lease: Lease, stop: threading.Event) -> None:
    until, is_lost = time.monotonic() + settings.BATCH_MAX_SECONDS, False
    while not stop.wait(settings.BATCH_LEASE_SECONDS / 3):
        try:
            if time.monotonic() >= until:
                _end_if_hung(lease)
            elif not is_lost:
                lease.extend()
        except (LeaseLost, JobCancelled):
            # The work hears of it when it next writes, unless it hangs.
            is_lost = True
        except (DatabaseError, InterfaceError) as error:
            logger.warning("The lease of batch %s could not be extended.", lease.batch.pk, exc_info=error)
        finally:
            connection.close()


def _end_if_hung(lease: Lease) -> None:
    """End this process, where it is a worker's, if the work has not written for so long that its lease is over."""
    if not lease.is_in_force():
        logger.error("Batch %s hangs, and its process is ended. It stands here:", lease.batch.pk)
        life.end_now()
