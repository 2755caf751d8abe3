"""Measures labelling: import and export rates, next and submit alone and with eight labellers, on both databases.

Labellers are processes that speak HTTP with a running server on loopback: by REST, and on the page, whose answer to a
label is the next example. Next to them the services alone, in one process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any

from benchmarks._labelling import CLIENTS, EXAMPLES, EXPORTS, SECONDS
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers import PostgresServer
from tests.servers.process import free_port
from toolevals.serving.application import Application

IMPORT_RATE, EXPORT_RATE = 4000, EXAMPLES / 3
# An export's memory for five times as many examples: the same, within this.
FLAT = 1.2
ALONE_MS, TOGETHER_MS, TOGETHER_RATE = 60, 250, 60


def rows() -> Iterator[Row]:
    """Measure on SQLite, then on PostgreSQL. Raises where PostgreSQL is not on this machine."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        yield from _rows("SQLite", {"TOOLEVALS_DATA_DIR": folder})
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder, PostgresServer() as server:
        url = server.database_create("bench")
        yield from _rows("PostgreSQL", {"TOOLEVALS_DATA_DIR": folder, "DATABASE_URL": url})


def _rows(database: str, environment: dict[str, str]) -> Iterator[Row]:
    moved = step(environment, "transfer")
    unit = "examples/s"
    yield Row(f"{database}: import to label", moved["to_label"], unit, moved["bare"], IMPORT_RATE)
    yield Row(f"{database}: import with gold", moved["with_gold"], unit, moved["bare"], IMPORT_RATE)
    for export in EXPORTS:
        yield Row(f"{database}: export, {export}", moved[export], unit, target=EXPORT_RATE)
        most, of_a_fifth = moved[f"{export}, all"], moved[f"{export}, fifth"]
        yield Row(f"{database}: memory of export, {export}", most, "MB", of_a_fifth, of_a_fifth * FLAT, "lower")
    one = step(environment, "alone")
    bare = p95(one["bare"])
    yield Row(f"{database}: claim, the service alone, p95", p95(one["claims"]), "ms", bare, ALONE_MS, "lower")
    yield Row(f"{database}: submit, the service alone, p95", p95(one["submits"]), "ms", bare, ALONE_MS, "lower")
    with server_of(environment) as server:
        for way, what in (("api", ""), ("page", ", page with the next")):
            one = _merged(label_with(environment, server, way, 0))
            yield from _http_rows(one, f"{database}: {{}}{what}, p95", bare=bare, most=ALONE_MS)
            many = _merged(*_together(environment, server, way))
            yield from _http_rows(many, f"{database}, eight at once: {{}}{what}, p95", bare=bare, most=TOGETHER_MS)
            rate = len(many["submit"]) / SECONDS
            yield Row(f"{database}, eight at once: labels{what}", rate, "labels/s", target=TOGETHER_RATE)


def _merged(*found: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return the seconds of several labellers' requests together."""
    return {name: [each for one in found for each in one[name]] for name in ("next", "submit")}


def _http_rows(times: dict[str, list[float]], title: str, *, bare: float, most: float) -> Iterator[Row]:
    """Yield a row for each kind of request that was made."""
    for name, taken in times.items():
        if taken:
            yield Row(title.format(name), p95(taken), "ms", bare, most, "lower")


@contextmanager
def server_of(environment: dict[str, str]) -> Iterator[Application]:
    """Run the web server and a worker on a database."""
    own = {"REDIS_URL": "", "DATABASE_URL": "", **environment}
    folder = Path(environment["TOOLEVALS_DATA_DIR"])
    with Application(python=sys.executable, data=folder, port=free_port(), environment=own) as server:
        server.prepare(sample=False)
        server.start()
        yield server


def _together(environment: dict[str, str], server: Application, way: str) -> list[Any]:
    labellers = [_labeller(environment, server, way, number) for number in range(CLIENTS)]
    return [_answer(process) for process in labellers]


def label_with(environment: dict[str, str], server: Application, way: str, number: int, seconds: int = SECONDS) -> Any:
    """Let one labeller work, and return the seconds of each request."""
    return _answer(_labeller(environment, server, way, number, seconds))


def _labeller(
    environment: dict[str, str], server: Application, way: str, number: int, seconds: int = SECONDS
) -> subprocess.Popen[bytes]:
    words = (way, str(number), str(seconds), str(server.port))
    return _process(environment, *words, module="benchmarks._labelling_client")


def step(environment: dict[str, str], name: str) -> Any:
    """Do one step of `benchmarks._labelling` in a process of its own, and return what it prints."""
    with _process(environment, name) as process:
        return _answer(process)


def _process(
    environment: dict[str, str], *words: str, module: str = "benchmarks._labelling"
) -> subprocess.Popen[bytes]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        env=inherited | environment,
        stdout=subprocess.PIPE,
    )


def _answer(process: subprocess.Popen[bytes]) -> Any:
    printed, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a step of the measurement failed with status {process.returncode}")
    return json.loads(printed)


def p95(seconds: list[float]) -> float:
    """Return the 95th percentile in milliseconds."""
    return quantiles(seconds, n=20)[-1] * 1000
