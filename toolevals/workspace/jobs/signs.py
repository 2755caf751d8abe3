"""Keeps a row for each worker that runs: where, what it serves, and when it was last seen."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Worker

EVERY_SECONDS: Final = 15.0
# Of a worker that did not say that it ends.
FORGOTTEN_AFTER: Final = timedelta(days=1)


class WorkerSign:
    """The row of this worker."""

    def __init__(self, queues: Iterable[str]) -> None:
        self._row: Worker | None = None
        self._queues = ", ".join(sorted(queues))
        self._due_at = 0.0

    def write(self) -> None:
        """Say that the worker runs, every fifteen seconds at most. Raises what the database raises."""
        if time.monotonic() < self._due_at:
            return
        now = database_now()
        if self._row is None or not Worker.objects.filter(pk=self._row.pk).update(seen_at=now):
            Worker.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()
            host = socket.gethostname()[:200]
            self._row = Worker.objects.create(host=host, process=os.getpid(), queues=self._queues, seen_at=now)
        self._due_at = time.monotonic() + EVERY_SECONDS

    def remove(self) -> None:
        """Say that the worker ends. Raises what the database raises."""
        if self._row is not None:
            Worker.objects.filter(pk=self._row.pk).delete()
