"""Rings for what is due from a thread in every worker's main process, so that no lost message matters.

Without a broker that other processes can reach it is the only doorbell. It also runs small regular duties, from the
table `SWEEP_TASKS` in the settings: each is a function of the time; in each period one worker, of however many, calls
it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import Error, close_old_connections, connection
from django.utils.module_loading import import_string

from toolevals.workspace.clock import clock_difference, database_now
from toolevals.workspace.jobs.idle_check import IdleCheck, rows_written, signed_at
from toolevals.workspace.jobs.signs import WorkerSign
from toolevals.workspace.jobs.turns import LocalDoorbell, name_unknown, ring_due
from toolevals.workspace.models import Batch, BatchState, SweepTask


def sweep_tasks_run(now: datetime) -> list[str]:
    """Call what is due and return the names of what was called."""
    every: dict[str, float] = settings.SWEEP_TASKS
    known = dict(SweepTask.objects.values_list("name", "due_at"))
    missing = [SweepTask(name=name, due_at=now) for name in every if name not in known]
    if missing:
        SweepTask.objects.bulk_create(missing, ignore_conflicts=True)
    called = []
    for name, seconds in every.items():
        if known.get(name, now) <= now and _claim(name, now, seconds):
            import_string(name)(now)
            called.append(name)
    return called


def last_sweep() -> datetime | None:
    """Return when a worker last gave a sign of life; None if none ever did."""
    newest = SweepTask.objects.exclude(ran_at=None).order_by("-ran_at").values_list("ran_at", flat=True).first()
    at_rest = signed_at()
    return max(newest, at_rest) if newest is not None and at_rest is not None else newest


def sign_of_life(now: datetime) -> None:
    """Show by being called at all that a worker runs; log a clock that differs from the database's."""
    if difference := clock_difference():
        logger.warning("The clock of this worker's machine is %s. Work goes by the database's.", difference)


def _claim(name: str, now: datetime, seconds: float) -> bool:
    due = SweepTask.objects.filter(name=name, due_at__lte=now)
    return bool(due.update(due_at=database_now() + timedelta(seconds=seconds), ran_at=now))


logger = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 30.0
PERIODIC_SECONDS = 1.0


class Sweeper:
    """One round rings for due batches and, once a second at most, runs the regular duties that are due."""

    def __init__(self, queues: Iterable[str] = ()) -> None:
        self._sign = WorkerSign(queues)
        self._stop = threading.Event()
        self._periodic_at = 0.0
        self._rest = IdleCheck()
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
            self._sign.write()

    def _run(self) -> None:
        pause = 0.0
        if not settings.REDIS_URL:
            self._try(_forget_rings)
        while not self._stop.wait(pause):
            well = self._try(self.round_if_due)
            pause = settings.SWEEP_SECONDS if well else min(max(pause, 0.5) * 2, LONGEST_PAUSE_SECONDS)
        self._try(self._sign.remove)
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
