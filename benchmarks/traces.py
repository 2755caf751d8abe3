"""Traces: what one sender can send, and pages at a million spans.

`TRACES_SPANS` is another number of spans, `TRACES_BATCHES` another number of batches. Batches have 512 spans.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers import PostgresServer

# Spans a second of one sender, and milliseconds of a batch and of a page on the server.
RATE = {"PostgreSQL": 2_000, "SQLite": 300}
BATCH, PAGE = 50, 100


def rows() -> Iterator[Row]:
    """Measure on both databases; pages on PostgreSQL. Raises CalledProcessError if it breaks."""
    for database, wanted in RATE.items():
        found = _measured(database, lists=database == "PostgreSQL")
        raw_rate, raw_batch = found.pop("raw spans a second"), found.pop("raw p95")
        raw_page = found.pop("raw page", None)
        rate = found.pop("spans a second")
        yield Row(f"{database}: spans of one sender", rate, "spans/s", baseline=raw_rate, target=wanted)
        rate = found.pop("spans a second of processor time")
        yield Row(f"{database}: spans, processor time of the server", rate, "spans/s", target=wanted)
        for name in ("p95 of a batch", "p95 of a batch that was stored before"):
            target = BATCH if database == "PostgreSQL" else None
            title = f"{database}: {name}"
            yield Row(title, found.pop(name), "ms", baseline=raw_batch, target=target, better="lower")
        name = f"{database}: summing a trace up, processor time"
        yield Row(name, found.pop("summing up"), "ms/trace", better="lower")
        for name, value in found.items():
            yield Row(f"{database}: {name}, p95", value, "ms", baseline=raw_page, target=PAGE, better="lower")


def _measured(database: str, *, lists: bool) -> dict[str, Any]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="toolevals-bench-"))
        own = {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": folder, "TOOLEVALS_DEBUG": ""}
        environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | own
        if database == "PostgreSQL":
            environment["DATABASE_URL"] = stack.enter_context(PostgresServer()).database_create("bench")
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks._traces_measure", *(["lists"] if lists else [])],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
        )
    found: dict[str, Any] = json.loads(result.stdout)
    return found
