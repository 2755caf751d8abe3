"""Measures traces: what one sender can send, pages at a million spans, and a load while processes are killed.

`TRACES_SPANS` is another number of spans, `TRACES_BATCHES` another number of batches, `TRACES_SECONDS` another time of
the load than a minute. Batches have 512 spans.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks._output import stdout_for_rows_alone
from benchmarks._traces_batches import SPANS
from benchmarks._traces_load import Load
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers import PostgresServer
from tests.servers.process import free_port
from toolevals.serving.application import Application

# Spans a second of one sender, and milliseconds of a batch and of a page on the server.
RATE = {"PostgreSQL": 2_000, "SQLite": 300}
BATCH, PAGE = 50, 100
SECONDS = float(os.environ.get("TRACES_SECONDS", "60"))
# Until all that came is summed up.
PATIENCE = 600.0


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
    for database, rate in RATE.items():
        yield from _under_load(database, rate)


def _under_load(database: str, rate: int) -> Iterator[Row]:
    """Send at a rate while the web server and the worker are killed; PostgreSQL writes to the disk as in earnest."""
    with ExitStack() as stack:
        stack.enter_context(stdout_for_rows_alone())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="toolevals-bench-")))
        own = {"TRACES_SPANS_PER_SECOND": "1000000", "DATABASE_URL": ""}
        if database == "PostgreSQL":
            server = stack.enter_context(PostgresServer("fsync=on", "synchronous_commit=on", "full_page_writes=on"))
            own["DATABASE_URL"] = server.database_create("bench")
        application = Application(python=sys.executable, data=folder, port=free_port(), environment=own)
        stack.enter_context(application)
        application.prepare(sample=False)
        load = Load(application, rate=rate, seconds=SECONDS)
        application.start()
        load.run()
        end = time.monotonic()
        before = load.state()
        load.again()
        while (state := load.state())["open"] and time.monotonic() < end + PATIENCE:
            time.sleep(1)
        settled = time.monotonic() - end
    title, calm = f"{database}, {rate:,} spans/s, processes killed", sorted(load.calm)
    target = BATCH if database == "PostgreSQL" else None
    p95 = calm[min(len(calm) - 1, int(len(calm) * 0.95))]
    yield Row(f"{title}: p95 of a batch, calm", 1000 * p95, "ms", target=target, better="lower")
    longest = max(each.seconds for each in load.sent)
    yield Row(f"{title}: longest until acknowledged", longest, "s", better="lower")
    spans = len(load.bodies) * SPANS
    wrong = max(abs(state[name] - spans) for name in ("keys", "noted", "stored"))
    yield Row(f"{title}: spans lost or twice", wrong, "spans", target=0, better="lower")
    changed = max(abs(state[name] - before[name]) for name in ("keys", "noted", "stored"))
    yield Row(f"{title}: changed by the same again", changed, "spans", target=0, better="lower")
    yield Row(f"{title}: until all is summed up", settled, "s", better="lower")


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
