"""Measures reports: pages and files of a grading of a million cases over 200 tools, by the clock and the processor.

Two runs of five trials are graded for it, by jobs: a million cases take half an hour. `--size` is another number.
Processor time is that of the process and of its session's server, which other work on the machine changes little.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from random import Random
from typing import Any, NamedTuple

from benchmarks._measuring import (
    databases,
    example,
    graded,
    imported,
    installation,
    p95,
    prediction,
    prepared,
    process_seconds,
    size,
    step,
    work,
)
from benchmarks.row import Row

CASES = size(1_000_000)
TRIALS, TOOLS, SEED = 5, 200, 20_260_310
# Milliseconds of a page on the server, seconds of a worker's processor for a gate, rows of a file a second.
PAGE, GATE, CSV = 200, 10, 20_000
TIMES = 15
GATE_RULES = {
    "bounds": [{"metric": name, "min": 0.8} for name in ("selection", "shape", "equivalence")],
    "regressions": [{"rule": rule, "metrics": ["selection", "shape"]} for rule in ("paired", "cases")],
}


def rows() -> Iterator[Row]:
    """Measure on the databases."""
    for database in databases():
        with installation(database) as environment:
            found = step("reports", environment)
        name = f"{database}: gate, two runs of five trials, processor time"
        yield Row(name, found.pop("gate"), "s", target=GATE, better="lower")
        for name, (clock, processor) in found.items():
            if name == "cases CSV":
                yield Row(f"{database}: {name}", clock, "rows/s", target=CSV)
                yield Row(f"{database}: {name}, processor time", processor, "rows/s", target=CSV)
                continue
            # A first view may be a job's.
            target = None if "first view" in name else PAGE
            yield Row(f"{database}: {name}", clock, "ms", target=target, better="lower")
            yield Row(f"{database}: {name}, processor time", processor, "ms", target=target, better="lower")


def measure() -> dict[str, Any]:
    """Grade the runs, and return what each page and file takes."""
    project, tools, people = prepared(TOOLS)
    from django.db import connection
    from django.test import Client

    from labeling.versions.services import version_freeze
    from reports.cases.queries import listed_cases
    from reports.filters.case_filters import CaseFilter, Filters
    from reports.filters.matrix_cells import matrix_counts
    from reports.matrix.analysis import matrix_of

    version = version_freeze(dataset=imported(project, tools, "core", b"".join(examples())), actor=None)
    work()
    for number in (1, 2):
        run = graded(version, b"".join(predictions(number)), f"agent {number}", TRIALS)
    grading = run.project.runs.get(number=1).grading
    client = Client(SERVER_NAME="localhost")
    client.force_login(people[0])
    base = "/p/bench/runs/1/"
    largest = max(matrix_of(matrix_counts(grading, Filters())).cells, key=lambda cell: cell.count)
    cell = {"expected": largest.expected, "actual": largest.actual}
    ids = listed_cases(grading, CaseFilter(expected=largest.expected, actual=largest.actual)).order_by("pk")
    middle, late = (str(ids[largest.count * share // 100].pk) for share in (50, 90))

    def page(path: str, **query: str) -> Callable[[], Any]:
        def asked() -> Any:
            response = client.get(path if path.startswith("/") else base + path, query)
            assert response.status_code == HTTPStatus.OK, path
            return response.content

        return asked

    meter = Meter(connection)
    pages = {
        "run page": page(""),
        "matrix page": page("matrix/"),
        "matrix page, filtered": page("matrix/", bucket="selection"),
        "matrix page, majority of trials": page("matrix/", unit="majority"),
        "cell": page("matrix/cell/", **cell),
        "cell, near the end of its cases": page("matrix/cell/", after=late, **cell),
        "case page": page(f"cases/{middle}/", **cell),
        "arguments page": page("arguments/"),
        "reliability page": page("reliability/"),
        "recovery page": page("recovery/"),
        "trends": page("/p/bench/experiments/bench/trends/"),
        "home": page("/p/bench/"),
        "comparison": page("compare/2/"),
        "per-tool CSV": lambda: lines(client.get(base + "tools.csv")),
    }
    found: dict[str, Any] = {}
    for name, act in pages.items():
        found[f"{name}, first view"] = meter.once(act)
        found[f"{name}, p95"] = meter.milliseconds(act)
    # The file may be made by a job, and then fetched; `now` asks for it at once.
    taken = meter.once(lambda: lines(client.get(base + "cases.csv", {"now": "1"})))
    return found | {"cases CSV": Taken(*(1000 * CASES / each for each in taken)), "gate": gate_decided()}


def gate_decided() -> float:
    """Return the processor seconds of a worker that holds run 2 against a gate, with run 1 before it."""
    from reports.gates.services import GateRequest, gate_decide, gate_hold
    from toolevals.runs.models import Run
    from toolevals.workspace.jobs.leases import batch_work

    held = gate_hold(run=Run.objects.get(number=2), actor=None, request=GateRequest(GATE_RULES, baseline="1"))
    assert held.job is not None
    start = time.process_time()
    batch_work(str(held.job.batches.get().pk), gate_decide)
    spent = time.process_time() - start
    held.refresh_from_db()
    assert held.status
    return spent


class Taken(NamedTuple):
    """The milliseconds of a step by the clock, and of the processors: of this process and its session's server."""

    clock: float
    processor: float


class Meter:
    """Takes times by the clock and of the processor."""

    def __init__(self, connection: Any) -> None:
        self._session = connection.connection.info.backend_pid if connection.vendor == "postgresql" else None

    def _processor(self) -> float:
        return time.process_time() + (process_seconds(self._session) if self._session else 0.0)

    def once(self, act: Callable[[], Any]) -> Taken:
        """Return the milliseconds of one run."""
        start, began = time.perf_counter(), self._processor()
        act()
        return Taken(1000 * (time.perf_counter() - start), 1000 * (self._processor() - began))

    def milliseconds(self, act: Callable[[], Any]) -> Taken:
        """Return the 95th percentile of some runs by the clock, and the processor's mean."""
        began = self._processor()
        clock = [self.once(act).clock / 1000 for _ in range(TIMES)]
        return Taken(p95(clock), 1000 * (self._processor() - began) / TIMES)


def lines(response: Any) -> int:
    """Return how many lines a file has, without keeping it."""
    return sum(chunk.count(b"\n") for chunk in response.streaming_content)


def examples() -> Iterator[bytes]:
    """Yield rows of an import."""
    random = Random(SEED)
    for number in range(CASES // TRIALS):
        strata = {"bucket": random.choice(("selection", "arguments")), "difficulty": random.choice(("easy", "hard"))}
        yield example(number, f"tool_{expected(number)}", strata=strata)


def expected(number: int) -> int:
    """Return the tool that an example expects: by chance, but always the same."""
    return number * 7919 % 1009 % TOOLS


def predictions(run: int) -> Iterator[bytes]:
    """Yield the answers of a run, most of them right. Most mistakes are between neighbours."""
    random = Random(SEED + run)
    for number in range(CASES // TRIALS):
        for trial in range(TRIALS):
            tool, chance = expected(number), random.random()
            if chance > 0.85:
                tool = (tool + random.randint(1, 4)) % TOOLS if chance < 0.95 else random.randrange(TOOLS + 10)
            yield prediction(number, trial, f"tool_{tool}")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure()))
