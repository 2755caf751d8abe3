"""Share one rate among all workers of a run: a row holds when the next request may be made."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from toolevals.runs.models import RunPace


class SharedPace:
    """Spaces out the requests of everybody who works on a run, evenly over each minute."""

    def __init__(self, run_id: UUID, requests_per_minute: int, sleep: Callable[[float], None] = time.sleep) -> None:
        self._run_id = run_id
        self._apart = timedelta(minutes=1) / requests_per_minute
        self._sleep = sleep

    def wait(self) -> None:
        """Return when the next request may be made."""
        seconds = (self._turn() - timezone.now()).total_seconds()
        # Whoever waits holds no connection that others could use.
        if not connection.in_atomic_block:
            connection.close()
        if seconds > 0:
            self._sleep(seconds)

    @transaction.atomic
    def _turn(self) -> datetime:
        RunPace.objects.get_or_create(run_id=self._run_id, defaults={"next_at": timezone.now()})
        pace = RunPace.objects.select_for_update().get(run_id=self._run_id)
        turn = max(pace.next_at, timezone.now())
        pace.next_at = turn + self._apart
        pace.save(update_fields=["next_at"])
        return turn
