"""A streaming replica of a PostgreSQL server of the tests."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import psycopg

from tests.servers.postgres import EmptyPostgresServer


class ReplicaServer(EmptyPostgresServer):
    """Replays what its primary writes, and takes no writes itself."""

    name = "replica"

    def __init__(self, primary: EmptyPostgresServer) -> None:
        super().__init__()
        self.primary = primary

    def cluster_make(self, owner: dict[str, Any]) -> None:
        """Copy the primary's cluster, to go on from there."""
        words: list[str | Path] = ["-D", self.data, "-R", "-X", "stream", "-c", "fast", "-d", self.primary.url()]
        subprocess.run([self.programs / "pg_basebackup", *words], check=True, cwd=self.folder, **owner)

    def replaying(self, *, go_on: bool) -> None:
        """Stop replaying, as a replica that lags does, or go on."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"SELECT pg_wal_replay_{'resume' if go_on else 'pause'}()")
