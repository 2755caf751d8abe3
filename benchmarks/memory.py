"""Measures the memory of all processes of `toolevals serve` with the sample project, on SQLite (Linux).

Proportional (PSS): what processes share counts once. When it has started and the sample's runs are graded, after many
pages, and after imports; each time when nobody has asked for anything for two minutes. Last, the most at any time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks._processor import descendants
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers.process import free_port
from toolevals.serving.application import end_group

STARTED_SECONDS, CALM_SECONDS, STOP_SECONDS = 300, 120, 60
PAGES, IMPORTS, EXAMPLES = 1_500, 5, 10_000
# MiB.
FRESH, WORKED = 250, 350
WHAT = "serve, sample, SQLite"


def rows() -> Iterator[Row]:
    """Measure in a fresh installation."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        port = free_port()
        with _served(Path(folder), port) as server, Watch(server.pid) as watch:
            _step(folder, "settle")
            yield _row(f"{WHAT}: started", _calm(server.pid), FRESH)
            _step(folder, "pages", str(port), str(PAGES))
            yield _row(f"{WHAT}: after {PAGES:,} pages", _calm(server.pid), None)
            _step(folder, "imports", str(port), str(IMPORTS), str(EXAMPLES))
            name = f"{WHAT}: after {PAGES:,} pages and {IMPORTS} imports of {EXAMPLES:,}"
            yield _row(name, _calm(server.pid), WORKED)
            yield _row(f"{WHAT}: most at any time", watch.most, None)


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


class Watch:
    """The most memory that was seen, looking twice a second."""

    def __init__(self, root: int) -> None:
        self.most = 0.0
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.5):
            self.most = max(self.most, proportional(self._root))


def _row(name: str, value: float, target: float | None) -> Row:
    return Row(name, value, "MiB", target=target, better="lower")


def _calm(root: int) -> float:
    time.sleep(CALM_SECONDS)
    return proportional(root)


@contextmanager
def _served(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    words = ["-m", "toolevals.cli.main", "serve", "--port", str(port), "--data", str(folder)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + STARTED_SECONDS
        while "Ctrl-C stops it" not in (folder / "log").read_text(errors="replace"):
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"it does not start: {(folder / 'log').read_text(errors='replace')[-800:]}")
            time.sleep(0.2)
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(timeout=STOP_SECONDS)
        finally:
            end_group(server)


def _step(folder: str, *words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "benchmarks._memory_load", *words],
        cwd=ROOT,
        env=_environment() | {"TOOLEVALS_DATA_DIR": folder},
        check=True,
    )


def _environment() -> dict[str, str]:
    left_out = ("DATABASE_URL", "REDIS_URL", "TOOLEVALS_DATA_DIR")
    return {name: value for name, value in os.environ.items() if name not in left_out}
