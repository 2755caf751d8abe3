"""Measures what a unit costs at several sizes, and whether the largest makes it dearer; on SQLite and PostgreSQL.

A unit is an example that is imported or exported, a case that is graded, a row of a file, or one page. `GROWTH_SIZES`
names other numbers of examples than 10,000, 100,000 and 1,000,000, and `GROWTH_DATABASES` one of the two databases.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

from benchmarks._output import stdout_for_rows_alone
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers import PostgresServer

SIZES, DATABASES = "10000,100000,1000000", "SQLite,PostgreSQL"
# How many times as much a unit may cost at the largest size as at the smallest.
MOST = 1.3
# Examples that come first and count for nothing: what a process loads once is no cost of a unit.
WARM = 500


def rows() -> Iterator[Row]:
    """Measure each size in a fresh installation. Raises ValueError for sizes or databases that are none."""
    sizes = sizes_in(os.environ.get("GROWTH_SIZES", SIZES))
    for database in databases_in(os.environ.get("GROWTH_DATABASES", DATABASES)):
        found = {}
        for size in sizes:
            found[size] = _measured(database, size)
            for name, cost in found[size].items():
                yield Row(f"{database}: {name}, of {size:,}", cost, "µs", better="lower")
        yield from growth_rows(database, found)


def growth_rows(database: str, found: Mapping[int, Mapping[str, float]]) -> Iterator[Row]:
    """Yield how many times as much each unit costs at the largest size as at the smallest; the target is MOST."""
    first, last = min(found), max(found)
    for name, cost in found[last].items():
        title = f"{database}: {name}, {last:,} over {first:,}"
        yield Row(title, cost / found[first][name], "times", target=MOST, better="lower")


def sizes_in(text: str) -> Sequence[int]:
    """Return sizes in ascending order. Raises ValueError unless there are two or more, all above zero."""
    sizes = sorted({int(part) for part in text.split(",")})
    if len(sizes) < 2 or sizes[0] < 1:
        raise ValueError(f"GROWTH_SIZES needs two sizes above zero or more, by commas, and is {text!r}")
    return sizes


def databases_in(text: str) -> Sequence[str]:
    """Return the databases that are named. Raises ValueError for another."""
    asked = text.split(",")
    if unknown := set(asked) - set(DATABASES.split(",")):
        raise ValueError(f"GROWTH_DATABASES names {', '.join(sorted(unknown))}; it may name {DATABASES}")
    return asked


def _measured(database: str, size: int) -> dict[str, float]:
    """Return what each unit costs, in microseconds of processor time, in an installation of its own."""
    with ExitStack() as stack:
        stack.enter_context(stdout_for_rows_alone())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="toolevals-bench-"))
        own = {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": folder, "TOOLEVALS_DEBUG": ""}
        if database == "PostgreSQL":
            own["DATABASE_URL"] = stack.enter_context(PostgresServer()).database_create("bench")
        inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks._growth", str(size), str(min(WARM, size))],
            cwd=ROOT,
            env=inherited | own,
            check=True,
            stdout=subprocess.PIPE,
        )
    found: dict[str, float] = json.loads(done.stdout)
    return found
