"""Labelling: import and export rates, claim and submit alone and with eight clients at once, on both databases.

Through the services, without pages. Clients are processes, as in an installation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from statistics import quantiles
from typing import Any

from benchmarks._labelling import CLIENTS, EXAMPLES, SECONDS
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers import PostgresServer

IMPORT_RATE, EXPORT_RATE = 4000, EXAMPLES / 3
ALONE_MS, TOGETHER_MS, TOGETHER_RATE = 60, 250, 60


def rows() -> Iterator[Row]:
    """Measure on SQLite, then on PostgreSQL. Raises where PostgreSQL is not on this machine."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        yield from _rows("SQLite", {"TOOLEVALS_DATA_DIR": folder})
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder, PostgresServer() as server:
        url = server.database_create("bench")
        yield from _rows("PostgreSQL", {"TOOLEVALS_DATA_DIR": folder, "DATABASE_URL": url})


def _rows(database: str, environment: dict[str, str]) -> Iterator[Row]:
    moved = _step(environment, "transfer")
    unit = "examples/s"
    yield Row(f"{database}: import to label", moved["to_label"], unit, moved["bare"], IMPORT_RATE)
    yield Row(f"{database}: import with gold", moved["with_gold"], unit, moved["bare"], IMPORT_RATE)
    yield Row(f"{database}: export", moved["exported"], unit, target=EXPORT_RATE)
    one = _step(environment, "alone")
    bare = _p95(one["bare"])
    yield Row(f"{database}: claim alone, p95", _p95(one["claims"]), "ms", bare, ALONE_MS, "lower")
    yield Row(f"{database}: submit alone, p95", _p95(one["submits"]), "ms", bare, ALONE_MS, "lower")
    many = _together(environment)
    claims, submits = ([each for found in many for each in found[name]] for name in ("claims", "submits"))
    yield Row(f"{database}: claim, eight at once, p95", _p95(claims), "ms", bare, TOGETHER_MS, "lower")
    yield Row(f"{database}: submit, eight at once, p95", _p95(submits), "ms", bare, TOGETHER_MS, "lower")
    yield Row(f"{database}: labels, eight at once", len(submits) / SECONDS, "labels/s", target=TOGETHER_RATE)


def _step(environment: dict[str, str], step: str) -> Any:
    with _process(environment, step) as process:
        return _answer(process)


def _together(environment: dict[str, str]) -> list[Any]:
    processes = [_process(environment, "client", str(number)) for number in range(CLIENTS)]
    return [_answer(process) for process in processes]


def _process(environment: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks._labelling", *words],
        cwd=ROOT,
        env=inherited | environment,
        stdout=subprocess.PIPE,
    )


def _answer(process: subprocess.Popen[bytes]) -> Any:
    printed, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a step of the measurement failed with status {process.returncode}")
    return json.loads(printed)


def _p95(seconds: list[float]) -> float:
    """Return the 95th percentile in milliseconds."""
    return quantiles(seconds, n=20)[-1] * 1000
