"""Measures the memory of all processes of `toolevals serve` with the sample project, on SQLite (Linux).

Proportional (PSS): what processes share counts once. When it has started, the sample's runs are graded, and nobody has
asked for anything for two minutes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from benchmarks._measuring import descendants, installation, step
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers.process import free_port
from toolevals.serving.application import end_group

STARTED_SECONDS, SETTLE_SECONDS, STOP_SECONDS = 300, 600, 60
CALM_SECONDS = 120
# MiB.
FRESH = 320


def rows() -> Iterator[Row]:
    """Measure in a fresh installation."""
    with installation("SQLite") as environment, _served(environment) as server:
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


@contextmanager
def _served(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    data = Path(environment["TOOLEVALS_DATA_DIR"])
    words = ["-m", "toolevals.cli.main", "serve", "--port", str(free_port()), "--data", str(data)]
    with (data / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + STARTED_SECONDS
        while "Ctrl-C stops it" not in (said := (data / "log").read_text(errors="replace")):
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"it does not start: {said[-800:]}")
            time.sleep(0.2)
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(timeout=STOP_SECONDS)
        finally:
            end_group(server)


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
