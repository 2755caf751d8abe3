"""Times the reports of a large grading inside an installation of its own: prints one JSON object. Run by `reports`."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

import django

from benchmarks._processor import process_seconds

TIMES = 15
GROUPED = """SELECT expected, actual, COUNT(*) FROM runs_casegrade WHERE grading_id = %s AND expected <> ''
GROUP BY expected, actual"""
JOINED = """SELECT c.id, t.id, r.id, e.external_id, t.trial, c.bucket, c.difficulty, c.expected, c.actual, c.outcome,
c.selection, c.arguments, c.schema, c.shape, c.equivalence, c.tag, c.mode FROM runs_casegrade c
JOIN runs_transcript t ON t.id = c.transcript_id JOIN labeling_versionentry v ON v.id = t.entry_id
JOIN labeling_revision r ON r.id = v.revision_id JOIN labeling_example e ON e.id = r.example_id
WHERE c.grading_id = %s ORDER BY c.transcript_id"""


def main() -> None:
    """Measure."""
    django.setup()
    from django.core.cache import cache
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client

    from benchmarks._reports_store import store_gradings
    from reports.analyses.matrix import matrix_of
    from reports.filters.case_filters import CaseFilter, Filters
    from reports.filters.matrix_cells import matrix_counts
    from reports.queries.grading import listed_cases
    from toolevals.workspace.address_numbers import read_id
    from toolevals.workspace.models import User

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    grading = kept_grading() or store_gradings()[0]
    # As the web server does.
    import toolevals.wsgi  # noqa: F401

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(email="bench@example.org"))
    base = "/p/bench/runs/1/"
    largest = max(matrix_of(matrix_counts(grading, Filters())).cells, key=lambda cell: cell.count)
    cell = {"expected": largest.expected, "actual": largest.actual}
    ids = listed_cases(grading, CaseFilter(expected=largest.expected, actual=largest.actual)).order_by("pk")
    middle, late = (str(ids[largest.count * share // 100].pk) for share in (50, 90))
    assert read_id(middle) is not None
    wrong = listed_cases(grading, CaseFilter(column="outcome", status="failed")).order_by("pk")
    failed = str(wrong[wrong.count() // 2].pk)

    def page(path: str, **query: str) -> Callable[[], Any]:
        def asked() -> Any:
            response = client.get(path if path.startswith("/") else base + path, query)
            assert response.status_code == HTTPStatus.OK, path
            return response.content

        return asked

    def grouped() -> Any:
        with connection.cursor() as cursor:
            cursor.execute(GROUPED, [grading.pk.hex if connection.vendor == "sqlite" else grading.pk])
            return cursor.fetchall()

    meter = Meter(connection)
    milliseconds = meter.milliseconds
    page("")()
    first = meter.once(page("reliability/"))
    found: dict[str, Any] = {
        "raw GROUP BY": milliseconds(grouped),
        "run page": milliseconds(page("")),
        "matrix page": milliseconds(page("matrix/")),
        "matrix page, filtered": milliseconds(page("matrix/", bucket="selection")),
        "matrix page, by failure tag": milliseconds(page("matrix/", tag="WRONG_ANSWER")),
        "matrix page, sets of calls": milliseconds(page("matrix/", view="set")),
        "matrix page, majority of trials": milliseconds(page("matrix/", unit="majority")),
        "matrix page, cost": milliseconds(page("matrix/", measure="cost")),
        "cell": milliseconds(page("matrix/cell/", **cell)),
        "cell, majority of trials": milliseconds(page("matrix/cell/", unit="majority", **cell)),
        "cell, in the middle of its cases": milliseconds(page("matrix/cell/", after=middle, **cell)),
        "cell, near the end of its cases": milliseconds(page("matrix/cell/", after=late, **cell)),
        "cases that failed, in the middle": milliseconds(
            page("cases/", column="outcome", status="failed", after=failed)
        ),
        "case page": milliseconds(page(f"cases/{middle}/", **cell)),
        "arguments page": milliseconds(page("arguments/")),
        "reliability page, first view": first,
        "reliability page": milliseconds(page("reliability/")),
        "recovery page": milliseconds(page("recovery/")),
        "trends": milliseconds(page("/p/bench/experiments/bench/trends/")),
        "home": milliseconds(page("/p/bench/")),
        "recovery CSV": milliseconds(lambda: streamed(client.get(base + "recovery.csv"))),
        "per-tool CSV": milliseconds(lambda: streamed(client.get(base + "tools.csv"))),
    }
    cache.clear()
    found["comparison, first view"] = meter.once(page("compare/2/"))
    found["comparison"] = milliseconds(page("compare/2/"))
    before = getrusage(RUSAGE_SELF).ru_maxrss
    rows, seconds = meter.counted(lambda: streamed(client.get(base + "cases.csv", {"now": "1"})))
    found["cases CSV"] = Taken(rows / seconds.clock, rows / seconds.processor)
    # Kilobytes on Linux; what was the most before is nearly all in use.
    found["memory of the cases CSV"] = (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1000
    rows, seconds = meter.counted(lambda: raw_csv(connection, grading))
    found["raw CSV"] = Taken(rows / seconds.clock, rows / seconds.processor)
    json.dump(found | gate_decided(), sys.stdout)


def kept_grading() -> Any:
    """Return the grading of run 1 where an earlier measurement wrote all runs, or nothing."""
    from toolevals.runs.models import Grading

    if Grading.objects.filter(run__number=2, finished_at__isnull=False, run__grading__isnull=False).exists():
        return Grading.objects.get(run__number=1, number=1)
    return None


GATE = {
    "bounds": [{"metric": name, "min": 0.8} for name in ("selection", "shape", "equivalence")],
    "regressions": [{"rule": rule, "metrics": ["selection", "shape"]} for rule in ("paired", "cases")],
}


def gate_decided() -> dict[str, float]:
    """Return the processor seconds of a worker that holds run 2 against a gate, with run 1 before it."""
    from reports.services import GateRequest, gate_decide, gate_hold
    from toolevals.runs.models import Run
    from toolevals.workspace.jobs import batch_work

    found = {}
    rules = {"gate": GATE, "gate, each tool": {**GATE, "bounds": [{"metric": "selection", "min": 0.5, "per": "tool"}]}}
    for name, document in rules.items():
        held = gate_hold(run=Run.objects.get(number=2), actor=None, request=GateRequest(document, baseline="1"))
        assert held.job is not None
        start = time.process_time()
        batch_work(str(held.job.batches.get().pk), gate_decide)
        found[f"{name}, two runs of five trials"] = time.process_time() - start
        held.refresh_from_db()
        assert held.status
    return found


class Taken(NamedTuple):
    """The time that a step took by the clock, and of the processors: of this one and of its session's server."""

    clock: float
    processor: float


class Meter:
    """Takes times by the clock and of the processor, which other work on the machine changes little."""

    def __init__(self, connection: Any) -> None:
        self._session = connection.connection.info.backend_pid if connection.vendor == "postgresql" else None

    def processor(self) -> float:
        """Return the seconds of this process and of its database session."""
        return time.process_time() + (process_seconds(self._session) if self._session else 0.0)

    def counted(self, act: Callable[[], int]) -> tuple[int, Taken]:
        """Return how many rows came, and in how many seconds."""
        start, began = time.perf_counter(), self.processor()
        rows = act()
        return rows, Taken(time.perf_counter() - start, self.processor() - began)

    def once(self, act: Callable[[], Any]) -> Taken:
        """Return the milliseconds of one run."""
        _, taken = self.counted(act)
        return Taken(1000 * taken.clock, 1000 * taken.processor)

    def milliseconds(self, act: Callable[[], Any]) -> Taken:
        """Return the 95th percentile of some runs by the clock, and the processor's mean, after one that warms up."""
        act()
        began = self.processor()
        clock = sorted(self.once(act).clock for _ in range(TIMES))
        return Taken(clock[-1 - TIMES // 20], 1000 * (self.processor() - began) / TIMES)


def streamed(response: Any) -> int:
    """Return how many lines a file has, without keeping it."""
    return sum(chunk.count(b"\n") for chunk in response.streaming_content)


def raw_csv(connection: Any, grading: Any) -> int:
    """Write the same columns with nothing between the driver and the csv module."""
    writer, rows = csv.writer(io.StringIO()), 0
    with connection.cursor() as cursor:
        cursor.execute(JOINED, [grading.pk.hex if connection.vendor == "sqlite" else grading.pk])
        while batch := cursor.fetchmany(2000):
            writer.writerows(batch)
            rows += len(batch)
    return rows


if __name__ == "__main__":
    main()
