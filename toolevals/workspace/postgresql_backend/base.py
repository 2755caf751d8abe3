"""Extends Django's backend for PostgreSQL: whether a kept connection still stands is mostly seen without asking.

A server that has ended a connection has said so, or its system has: there is something to read where nothing was asked.
"""

from __future__ import annotations

import select
import time

import psycopg
from django.db.backends.postgresql import base

# A connection that was silent for so many seconds is asked: what lies in between may have forgotten it and say nothing.
ASKED_AFTER = 30.0


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of one thread."""

    _seen_at = 0.0

    def is_usable(self) -> bool:
        """Return whether the connection stands; ask the server where that is not plain to see."""
        before, self._seen_at = self._seen_at, time.monotonic()
        if self.connection is not None and self._seen_at - before < ASKED_AFTER and self._is_silent():
            return True
        return bool(super().is_usable())

    def _is_silent(self) -> bool:
        """Return whether the connection is open and holds nothing unread."""
        try:
            watched = select.poll()
            watched.register(self.connection.fileno(), select.POLLIN)
            return not watched.poll(0)
        except (psycopg.Error, OSError):
            return False
