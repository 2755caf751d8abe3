"""Measures reports: pages and files of a grading of a million cases over 200 tools, on PostgreSQL and SQLite.

`REPORTS_CASES` is another number of cases, and `REPORTS_DATABASES=SQLite` one database. `REPORTS_FOLDER` keeps what was
written, a folder for each database and number of cases, and measures it again next time.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg

from benchmarks._reports_store import CASES
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers.postgres import EmptyPostgresServer

# Milliseconds of a page on the server, and rows of a file a second; on SQLite three times as long is well enough.
PAGE, COMPARISON, CSV = 100, 1000, 20_000
SLOWER_ON_SQLITE = 3
# Seconds of a worker's processor.
GATE = 10
# Megabytes that a file of all cases may add to the memory of the process that sends it.
CSV_MEMORY = 20
# By the clock, and of the processor where other work shares the machine: what is said of it, and its place in a pair.
WAYS = {"": 0, ", processor time": 1}
DATABASES = {"PostgreSQL": 1, "SQLite": SLOWER_ON_SQLITE}


class _KeptServer(EmptyPostgresServer):
    """A PostgreSQL whose cluster stays in a folder, and is used again."""

    def __init__(self, data: Path) -> None:
        super().__init__()
        self.data = data

    def cluster_make(self, owner: dict[str, Any]) -> None:
        """Make the cluster, unless it is there."""
        if self.data.exists():
            return
        self.data.mkdir()
        if owner:
            os.chown(self.data, owner["user"], owner["group"])
        super().cluster_make(owner)

    def database_only(self, name: str) -> str:
        """Make the database, unless it is there, and return its address."""
        with contextlib.suppress(psycopg.errors.DuplicateDatabase):
            self.database_create(name)
        return self.url(name)


def rows() -> Iterator[Row]:
    """Measure on the databases. Raises CalledProcessError if it breaks."""
    for database in os.environ.get("REPORTS_DATABASES", ",".join(DATABASES)).split(","):
        times = DATABASES[database]
        found = _measured(database)
        raw, raw_csv = found.pop("raw GROUP BY"), found.pop("raw CSV")
        grown = found.pop("memory of the cases CSV")
        for way, place in WAYS.items():
            rate, baseline = found["cases CSV"][place], raw_csv[place]
            yield Row(f"{database}: cases CSV{way}", rate, "rows/s", baseline=baseline, target=CSV / times)
        found.pop("cases CSV")
        yield Row(f"{database}: memory that it adds", grown, "MB", target=CSV_MEMORY, better="lower")
        for name in [name for name in found if name.startswith("gate")]:
            title = f"{database}: {name}, processor time"
            yield Row(title, found.pop(name), "s", target=GATE, better="lower")
        for name, taken in found.items():
            most = times * (COMPARISON if name.startswith("comparison") else PAGE)
            for way, place in WAYS.items():
                title = f"{database}: {name}{way or ', p95'}"
                yield Row(title, taken[place], "ms", baseline=raw[place], target=most, better="lower")


def _measured(database: str) -> dict[str, Any]:
    """Return what `_reports_measure` found in an installation of its own."""
    with ExitStack() as stack:
        folder = _kept_folder(database) or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="toolevals-bench-"))
        )
        # The database server is another user.
        folder.chmod(0o755)
        own = {
            "DJANGO_SETTINGS_MODULE": "toolevals.settings",
            "TOOLEVALS_DATA_DIR": str(folder / "data"),
            "TOOLEVALS_DEBUG": "",
        }
        if database == "PostgreSQL":
            own["DATABASE_URL"] = stack.enter_context(_KeptServer(folder / "postgres")).database_only("bench")
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks._reports_measure"],
            cwd=ROOT,
            env=_without_database(os.environ) | own,
            check=True,
            stdout=subprocess.PIPE,
        )
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def _kept_folder(database: str) -> Path | None:
    """Return the folder that `REPORTS_FOLDER` keeps for this database, where one is named."""
    if not (named := os.environ.get("REPORTS_FOLDER")):
        return None
    folder = Path(named).resolve() / f"{database}-{CASES}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _without_database(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name != "DATABASE_URL"}
