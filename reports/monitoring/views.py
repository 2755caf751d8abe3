"""Answer `/metrics` in the text format of Prometheus."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from reports.monitoring.queries import Figure, figures

# What the database said is said again for so long: whoever asks more often costs nothing more.
KEPT_SECONDS: Final = 10.0


class _Kept:
    """The figures of the last reading, and when it was. Who asks while another reads waits for that reading."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.figures: Sequence[Figure] = ()
        self.until = 0.0

    def read(self) -> Sequence[Figure]:
        with self.lock:
            if monotonic() >= self.until:
                self.figures = list(figures())
                self.until = monotonic() + KEPT_SECONDS
            return self.figures


_kept = _Kept()


def kept_figures() -> Sequence[Figure]:
    """Return what `/metrics` says of the database, read now or seconds ago."""
    return _kept.read()


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Return what the database knows, read now or seconds ago, and what the processes of this server counted."""
    from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
    from prometheus_client.core import GaugeMetricFamily
    from prometheus_client.registry import Collector, CollectorRegistry

    from toolevals.workspace.monitoring.request_counts import request_registry

    class Database(Collector):
        """Gives the library the figures."""

        def collect(self) -> Iterable[GaugeMetricFamily]:
            for each in kept_figures():
                family = GaugeMetricFamily(f"toolevals_{each.name}", each.about, labels=each.labels)
                for values, value in each.rows.items():
                    family.add_metric(values, value)
                yield family

    registry = CollectorRegistry()
    registry.register(Database())
    return HttpResponse(
        generate_latest(registry) + generate_latest(request_registry()), content_type=CONTENT_TYPE_PLAIN_0_0_4
    )
