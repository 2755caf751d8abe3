"""Extends Django's backend for SQLite: transactions close the cursor that begins them.

A transaction that does not get SQLite's one lock raises, and the exception keeps the cursor until the collector of
garbage finds both. The collector runs in any thread. To free a cursor that is still open, it waits for the cursor's
connection; a thread that waits for the lock again holds its connection for all that time. So a thread that held the
lock and collected garbage waited for those who waited for the lock.
"""

from __future__ import annotations

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of one thread."""

    # As Django sets it from the options; its stubs do not know it.
    transaction_mode: str | None

    def _start_transaction_under_autocommit(self) -> None:
        with self.cursor() as cursor:
            cursor.execute("BEGIN" if self.transaction_mode is None else f"BEGIN {self.transaction_mode}")
