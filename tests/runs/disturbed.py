"""An application whose runs are disturbed from outside, and that is asked how far it is through its database."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg

from tests.fixtures.application import LiveApp

SECONDS = 300
# Between two looks: short enough to see the middle of a run.
INTERVAL = 0.02
# A lease that runs out soon: the tests wait for it.
ENVIRONMENT = {"BATCH_LEASE_SECONDS": "3", "SWEEP_SECONDS": "0.25", "BATCH_MAX_ATTEMPTS": "8"}
# Baseline agents are run beside people's runs, and have jobs of another kind.
FINISHED = "SELECT count(*) FROM workspace_job WHERE kind = '{kind}' AND state = 'succeeded'"


class Disturbed:
    """The application; `database` is PostgreSQL's address, empty where it has a file of its own."""

    def __init__(self, app: LiveApp, database: str = "") -> None:
        self.app = app
        self.database = database
        self.runs = 0
        # While a wait asks again and again, one session of PostgreSQL serves it.
        self._waits = False
        self._server: psycopg.Connection[tuple[int]] | None = None

    def ask(self, query: str) -> int:
        """Return the one number that a query finds; -1 while the database is away."""
        if not self.database:
            path = Path(self.app.application.environment["TOOLEVALS_DATA_DIR"]) / "toolevals.sqlite3"
            with closing(sqlite3.connect(path)) as file:
                return int(file.execute(query).fetchone()[0])
        try:
            if self._server is None:
                self._server = psycopg.connect(self.database, connect_timeout=2, autocommit=True)
            [number] = self._server.execute(query.encode()).fetchone() or (0,)
        except psycopg.OperationalError:
            self._hang_up()
            return -1
        finally:
            if not self._waits:
                self._hang_up()
        return number

    def _hang_up(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def finished(self) -> bool:
        """Return whether every run is."""
        return self.ask(FINISHED.format(kind="run")) == self.runs

    def wait(self, condition: Callable[[], bool]) -> None:
        """Return once the condition holds."""
        deadline = time.monotonic() + SECONDS
        self._waits = True
        try:
            while not condition():
                assert time.monotonic() < deadline, "the run does not come to its end"
                time.sleep(INTERVAL)
        finally:
            self._waits = False
            self._hang_up()
