"""Runs the sweeper's small regular duties, from the table `SWEEP_TASKS` in the settings: dotted path -> seconds.

Each is a function of the time; in each period one worker, of however many, calls it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.module_loading import import_string

from toolevals.workspace.clock import clock_difference, database_now
from toolevals.workspace.jobs.rest import signed_at
from toolevals.workspace.models import SweepTask

logger = logging.getLogger(__name__)


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
            duty_named(name)(now)
            called.append(name)
    return called


def duty_named(name: str) -> Callable[[datetime], None]:
    """Return the function of a duty: it is found by its name, unless the settings say where it stands now."""
    function: Callable[[datetime], None] = import_string(settings.SWEEP_FUNCTIONS.get(name, name))
    return function


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
