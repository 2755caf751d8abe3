"""Reports: pages and files of a grading of a million cases over 200 tools, on PostgreSQL and on SQLite.

`REPORTS_CASES` is another number of cases.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers import PostgresServer

# Milliseconds of a page on the server, and rows of a file a second; on SQLite three times as long is well enough.
PAGE, COMPARISON, CSV = 100, 1000, 20_000
SLOWER_ON_SQLITE = 3
# Seconds of a worker's processor.
GATE = 10
# Megabytes that a file of all cases may add to the memory of the process that sends it.
CSV_MEMORY = 20


def rows() -> Iterator[Row]:
    """Measure on both databases. Raises CalledProcessError if it breaks."""
    for database, times in (("PostgreSQL", 1), ("SQLite", SLOWER_ON_SQLITE)):
        found = _measured(database)
        raw, raw_csv = found.pop("raw GROUP BY"), found.pop("raw CSV")
        grown = found.pop("memory of the cases CSV")
        yield Row(f"{database}: cases CSV", found.pop("cases CSV"), "rows/s", baseline=raw_csv, target=CSV / times)
        yield Row(f"{database}: memory that it adds", grown, "MB", target=CSV_MEMORY, better="lower")
        for name in ("comparison, first view", "comparison"):
            title = f"{database}: {name}, two runs of five trials"
            yield Row(title, found.pop(name), "ms", target=COMPARISON * times, better="lower")
        for name in [name for name in found if name.startswith("gate")]:
            title = f"{database}: {name}, processor time"
            yield Row(title, found.pop(name), "s", target=GATE, better="lower")
        for name, value in found.items():
            title = f"{database}: {name}, p95"
            yield Row(title, value, "ms", baseline=raw, target=PAGE * times, better="lower")


def _measured(database: str) -> dict[str, Any]:
    """Return what `_reports_measure` found in an installation of its own."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="toolevals-bench-"))
        own = {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": folder, "TOOLEVALS_DEBUG": ""}
        if database == "PostgreSQL":
            own["DATABASE_URL"] = stack.enter_context(PostgresServer()).database_create("bench")
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks._reports_measure"],
            cwd=ROOT,
            env=_without_database(os.environ) | own,
            check=True,
            stdout=subprocess.PIPE,
        )
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def _without_database(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name != "DATABASE_URL"}
