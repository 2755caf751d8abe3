"""Rings for what is due from a thread in every worker's main process, so that no lost message matters.

Without a broker that other processes can reach it is the only doorbell.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import Error, close_old_connections, connection

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.notify import LocalDoorbell, ring_due
from toolevals.workspace.jobs.periodic import sweep_tasks_run
from toolevals.workspace.jobs.rest import Rest, rows_written
from toolevals.workspace.jobs.turns import name_unknown
from toolevals.workspace.models import Batch, BatchState

logger = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 30.0
PERIODIC_SECONDS = 1.0


class Sweeper:
    """One round rings for due batches and, once a second at most, runs the regular duties that are due."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._periodic_at = 0.0
        self._rest = Rest()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def start(self) -> None:
        """Begin; from now on this process may ring the in-memory broker."""
        LocalDoorbell.pid = os.getpid()
        self._thread.start()

    def stop(self) -> None:
        """End after the current round."""
        self._stop.set()
        self._thread.join(timeout=5)

    def round(self) -> None:
        """Ring, and run what is due. Raises what the database raises."""
        ring_due()
        name_unknown()
        if time.monotonic() >= self._periodic_at:
            self._periodic_at = time.monotonic() + PERIODIC_SECONDS
            before = rows_written()
            called = sweep_tasks_run(database_now())
            # Each that was called has written its turn.
            self._rest.note(max(rows_written() - before - len(called), 0), time.monotonic())

    def round_if_due(self) -> None:
        """Do a round unless the database says that it would find nothing. Raises as `round`."""
        if not self._rest.may_skip(time.monotonic()):
            self.round()

    def _run(self) -> None:
        pause = 0.0
        if not settings.REDIS_URL:
            self._try(_forget_rings)
        while not self._stop.wait(pause):
            well = self._try(self.round_if_due)
            pause = settings.SWEEP_SECONDS if well else min(max(pause, 0.5) * 2, LONGEST_PAUSE_SECONDS)
        connection.close()

    def _try(self, step: Callable[[], None]) -> bool:
        close_old_connections()
        try:
            step()
        except Error as error:
            logger.warning("The sweeper cannot reach the database, and waits: %s", error, exc_info=error)
            connection.close()
            return False
        except Exception:
            logger.exception("A duty of the sweeper failed.")
        return True


def _forget_rings() -> None:
    """Ring again for everything: what the in-memory broker held ended with the last worker."""
    Batch.objects.filter(state=BatchState.QUEUED).exclude(rung_at=None).update(rung_at=None)
