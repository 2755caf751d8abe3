"""Extends Django's backend for SQLite: a transaction waits fairly for its turn, and closes the cursor that starts it.

SQLite lets one connection write at a time. Its own way to wait sleeps longer the longer it has waited, up to a tenth of
a second, so the last to come goes first: of eight people who label at once, one waited for seconds. Here everyone
asks every few milliseconds, so everyone has the same chance.

A transaction that does not get SQLite's one lock raises, and the exception keeps the cursor until the collector of
garbage finds both. The collector runs in any thread. To free a cursor that is still open, it waits for the cursor's
connection; a thread that waits for the lock again holds its connection for all that time. So a thread that held the
lock and collected garbage waited for those who waited for the lock.
"""

from __future__ import annotations

import random
import sqlite3
import time

from django.db import OperationalError
from django.db.backends.sqlite3 import base

# Seconds between two attempts to get the lock. They differ, so that those who wait do not ask in step.
_PAUSE = (0.001, 0.003)


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of one thread."""

    # As Django sets it from the options; its stubs do not know it.
    transaction_mode: str | None

    def _start_transaction_under_autocommit(self) -> None:
        if self.transaction_mode is None:
            self._execute("BEGIN")
            return
        # Beside Django's cursors: what counts the queries of a page does not count this one.
        [patience] = self.connection.execute("PRAGMA busy_timeout").fetchone()
        deadline = time.monotonic() + patience / 1000
        self.connection.execute("PRAGMA busy_timeout = 0")
        try:
            while not self._has_begun(deadline):
                time.sleep(random.uniform(*_PAUSE))  # noqa: S311 - no secret
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {patience}")

    def _has_begun(self, deadline: float) -> bool:
        """Tell whether the transaction has begun. Raises OperationalError past the deadline."""
        try:
            self._execute(f"BEGIN {self.transaction_mode}")
        except OperationalError as error:
            if not _is_busy(error) or time.monotonic() >= deadline:
                raise
            return False
        return True

    def _execute(self, statement: str) -> None:
        with self.cursor() as cursor:
            cursor.execute(statement)


def _is_busy(error: OperationalError) -> bool:
    """Tell whether another connection holds the lock."""
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    return code is not None and code & 0xFF == sqlite3.SQLITE_BUSY
