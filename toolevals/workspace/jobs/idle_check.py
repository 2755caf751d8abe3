"""Tell whether there can be anything to do: on SQLite, where the sweeper is the only doorbell, it asks this instead.

SQLite counts in memory how often others have written, and says it without reading a table. While that number stands
and no batch is open, nothing has become due. Once it has stood for some minutes, the regular duties come rarely: what
they wait for comes with time alone, and no one works here who could see it late.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection

from toolevals.workspace.models import Batch, JobState

# Seconds without a change after which an installation is at rest: longer than anyone may change a label.
CALM_SECONDS = 300.0
# Between two rounds of the regular duties at rest, and between two signs of life, which are no rows then.
DUTY_SECONDS, SIGN_SECONDS = 300.0, 15.0
ALIVE = "worker.alive"


class IdleCheck:
    """The knowledge of one sweeper about its database. `now` is of the monotonic clock."""

    def __init__(self) -> None:
        self._version: tuple[int, int] | None = None
        self._changed_at = 0.0
        self._has_open = True
        self._duties_at = self._sign_at = 0.0

    def may_skip(self, now: float) -> bool:
        """Return whether a round would find nothing. Raises what the database raises."""
        if settings.REDIS_URL or connection.vendor != "sqlite":
            return False
        version = _version()
        if version != self._version:
            self._version, self._changed_at, self._has_open = version, now, True
        elif self._has_open:
            self._has_open = Batch.objects.open().filter(job__state=JobState.RUNNING).exists()
        if self._has_open or now - self._changed_at < CALM_SECONDS:
            return False
        if now >= self._duties_at:
            self._duties_at = now + DUTY_SECONDS
            return False
        if now >= self._sign_at:
            self._sign_at = now + SIGN_SECONDS
            _sign()
        return True

    def note(self, written: int, now: float) -> None:
        """Say how many rows a round has written besides its own turns: where it has, it may have more to do."""
        if written:
            self._changed_at = now


def rows_written() -> int:
    """Return how many rows this connection has written since it was opened; 0 where the database does not say."""
    return int(connection.connection.total_changes) if connection.vendor == "sqlite" and connection.connection else 0


def signed_at() -> datetime | None:
    """Return when a sweeper at rest last gave a sign of life; None if none ever did."""
    try:
        return datetime.fromtimestamp(_file().stat().st_mtime, UTC)
    except OSError:
        return None


def _sign() -> None:
    """Touch a file, which costs no write of the database."""
    file = _file()
    try:
        os.utime(file)
    except FileNotFoundError:
        file.touch(0o600)


def _file() -> Path:
    return Path(settings.DATA_DIR) / ALIVE


def _version() -> tuple[int, int]:
    """Return the connection and the count of others' writes, which is the connection's own."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA data_version")
        return id(connection.connection), int(cursor.fetchone()[0])
