"""Limits the rate at which one project's spans are taken, and how many batches are at work at once.

A process counts for itself: each has its share of the limit. Nothing is lost when it is refused, since senders keep
what was not acknowledged and send it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from uuid import UUID

from django.conf import settings

from toolevals.traces.intake.bodies import Refused

# Seconds of the rate that may come at once, after a pause.
BURST_SECONDS = 10.0


class Rates:
    """A bucket for each project that fills at the limit and is emptied by what comes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: dict[UUID, tuple[float, float]] = {}
        self._at_work = 0

    def require(self, project: UUID, now: float | None = None) -> None:
        """Raise `Refused` (429) where a project has sent more than its rate."""
        at = time.monotonic() if now is None else now
        with self._lock:
            level = self._level(project, at)
        if level <= 0:
            seconds = max(1, round(-level / settings.TRACES_SPANS_PER_SECOND) + 1)
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"The project sends more than {settings.TRACES_SPANS_PER_SECOND:,} spans a second.",
                seconds,
            )

    def note(self, project: UUID, spans: int, now: float | None = None) -> None:
        """Count spans that have come."""
        at = time.monotonic() if now is None else now
        with self._lock:
            self._buckets[project] = (self._level(project, at) - spans, at)

    def _level(self, project: UUID, at: float) -> float:
        rate = float(settings.TRACES_SPANS_PER_SECOND)
        level, since = self._buckets.get(project, (rate * BURST_SECONDS, at))
        return min(rate * BURST_SECONDS, level + (at - since) * rate)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Hold one of the places of this process. Raises `Refused` (503) where none is free."""
        with self._lock:
            if self._at_work >= settings.TRACES_AT_ONCE:
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "The server takes other batches at the moment.", 1)
            self._at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1


RATES = Rates()
