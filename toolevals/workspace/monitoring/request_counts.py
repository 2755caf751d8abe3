"""Counts requests in each process of the web server, and how long their answers took.

Processes that `toolevals.serving.options` started write their counts to files of one folder, which the Prometheus
library adds up; any other process knows its own alone. The library decides by that folder when it is loaded: so it is
loaded with the first request.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass(frozen=True, slots=True)
class _Counts:
    registry: CollectorRegistry
    requests: Counter
    seconds: Histogram


_lock = threading.Lock()
_counts: _Counts | None = None


def request_note(route: str, status: int, seconds: float) -> None:
    """Count a request. `route` is the name of an address, so that there are no more series than addresses."""
    counts = _own()
    counts.requests.labels(route, f"{status // 100}xx").inc()
    counts.seconds.labels(route).observe(seconds)


def request_registry() -> CollectorRegistry:
    """Return what is known of requests: to all processes of this web server, or to this process alone."""
    if FOLDER not in os.environ:
        return _own().registry
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def _own() -> _Counts:
    global _counts  # noqa: PLW0603 - one for the process
    with _lock:
        if _counts is None:
            disable_created_metrics()  # type: ignore[no-untyped-call]
            registry = CollectorRegistry()
            about = "Requests that the application has answered, since the web server started."
            requests = Counter("toolevals_requests", about, ["route", "status"], registry=registry)
            about = "Seconds until the answer to a request began."
            seconds = Histogram("toolevals_request_seconds", about, ["route"], buckets=_SECONDS, registry=registry)
            _counts = _Counts(registry, requests, seconds)
        return _counts
