"""Points at which a server process kills itself, in the order in which a request that uploads a file passes them.

A point is armed by writing its name into the file that `FAULT_FILE` names; the process that meets it takes the file
away and dies as by a power failure.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.db.backends.base.base import BaseDatabaseWrapper

FILE_STORED, JOB_MADE, WORK_DONE, BEFORE_COMMIT, AFTER_COMMIT = POINTS = (
    "file stored",
    "job made",
    "work done",
    "before commit",
    "after commit",
)


class FaultsConfig(AppConfig):
    """Patches the product where it may die."""

    name = "tests.workspace"
    label = "faults"

    def ready(self) -> None:
        """Put the points in their places."""
        from toolevals.workspace.jobs import services as creation
        from toolevals.workspace.models import IdempotencyKey, Upload

        answered: list[int] = []

        def note(_: Any, result: Any) -> None:
            answered.append(1)

        _around(Upload, "save", before=FILE_STORED)
        _around(creation, "_insert", after=JOB_MADE)
        _around(IdempotencyKey, "save", before=WORK_DONE, then=note)
        _around(BaseDatabaseWrapper, "_commit", before=BEFORE_COMMIT, after=AFTER_COMMIT, only=lambda: bool(answered))


def _around(
    owner: Any,
    name: str,
    *,
    before: str = "",
    after: str = "",
    only: Callable[[], bool] = lambda: True,
    then: Callable[[Any, Any], None] = lambda *_: None,
) -> None:
    inner = getattr(owner, name)

    def passing(*args: Any, **kwargs: Any) -> Any:
        counts = only()
        _die_at(before if counts else "")
        result = inner(*args, **kwargs)
        then(args, result)
        _die_at(after if counts else "")
        return result

    setattr(owner, name, passing)


def _die_at(point: str) -> None:
    armed = Path(os.environ["FAULT_FILE"])
    if point and armed.exists() and armed.read_text() == point:
        armed.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
