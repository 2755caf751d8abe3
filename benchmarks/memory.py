"""Measures the memory of all processes of `toolevals serve` with the sample project, on SQLite (Linux).

Proportional (PSS): what processes share counts once. When it has started, the sample's runs are graded, and nobody has
asked for anything for two minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import django

from benchmarks._measuring import descendants, installation, served, step
from benchmarks.row import Row

SETTLE_SECONDS = 600
CALM_SECONDS = 120
# MiB.
FRESH = 320


def rows() -> Iterator[Row]:
    """Measure in a fresh installation."""
    with installation("SQLite") as environment, served(environment) as (server, _):
        step("memory", environment)
        time.sleep(CALM_SECONDS)
        yield Row("serve, sample, SQLite: started", proportional(server.pid), "MiB", target=FRESH, better="lower")


def proportional(root: int) -> float:
    """Return the MiB that a process and those below it hold; what several share counts once."""
    return sum(map(_held, {root, *descendants(root)})) / 1024


def _held(pid: int) -> int:
    """Return kilobytes; none of a process that has ended meanwhile."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def settle() -> None:
    """Wait until every batch is done. Raises RuntimeError after ten minutes."""
    from toolevals.workspace.models import Job, JobState

    deadline = time.monotonic() + SETTLE_SECONDS
    while Job.objects.filter(state=JobState.RUNNING).exists():
        if time.monotonic() > deadline:
            raise RuntimeError("jobs are running after ten minutes")
        time.sleep(0.5)


if __name__ == "__main__":
    django.setup()
    settle()
    sys.stdout.write("null")
