"""Measures a million examples on PostgreSQL: the pages that must not slow with the size, on a running server."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from benchmarks.labeling import ALONE_MS, label_with, p95, server_of, step
from benchmarks.row import Row
from tests.servers import PostgresServer

PAGE_MS, TIMES = 150, 20
# Another bound: of what a labeller waits for each time.
BOUNDS = {"next": ALONE_MS}


def rows() -> Iterator[Row]:
    """Load, then ask for each page. Raises where PostgreSQL is not on this machine."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder, PostgresServer() as server:
        environment = {"TOOLEVALS_DATA_DIR": folder, "DATABASE_URL": server.database_create("bench")}
        yield Row("a million examples: written", step(environment, "large")["loaded"], "examples/s")
        with server_of(environment) as application:
            for name, taken in label_with(environment, application, "pages", 0, TIMES).items():
                most = BOUNDS.get(name, PAGE_MS)
                yield Row(f"a million examples: {name}, p95", p95(taken), "ms", target=most, better="lower")
