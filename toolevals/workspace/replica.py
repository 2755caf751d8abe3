"""Reads reports from a streaming replica of PostgreSQL, where one is set; none shows less than has been committed.

Before a report is read, the replica must have replayed what the primary has written by then. Where it does not within
`TOOLEVALS_REPLICA_WAIT_SECONDS`, or does not answer, the primary is read, and the log says so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

REPLICA: Final = "replica"
# Requests do not wait for one that is away: seconds until it is asked again.
PAUSE_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02
_HERE = "SELECT pg_current_wal_insert_lsn(), (SELECT system_identifier FROM pg_control_system()), current_database()"
_THERE = """
SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), %s) >= 0,
  (SELECT system_identifier FROM pg_control_system()) = %s AND current_database() = %s,
  extract(epoch FROM now() - pg_last_xact_replay_timestamp())
"""
# A job asks here whether it may go on, and says how far it is.
_NEVER: Final = frozenset({"workspace.Batch", "workspace.Job"})
logger = logging.getLogger(__name__)
_away_until = 0.0


class _Reading:
    """One report that is being read; `is_there` until it writes something, which only the primary shows."""

    is_there = True


_reading: ContextVar[_Reading | None] = ContextVar("reading", default=None)


class ReplicaRouter:
    """Tells Django where to read and write."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        """Return the replica within a report, but not in a transaction, which has rows that only it sees."""
        reading = _reading.get()
        if reading is None or not reading.is_there or model._meta.label in _NEVER:
            return DEFAULT_DB_ALIAS
        return DEFAULT_DB_ALIAS if connections[DEFAULT_DB_ALIAS].in_atomic_block else REPLICA

    def db_for_write(self, model: Any, **hints: Any) -> str:
        """Return the primary, which the rest of the report is read from too."""
        reading = _reading.get()
        if reading is not None and model._meta.label not in _NEVER:
            reading.is_there = False
        return DEFAULT_DB_ALIAS

    def allow_relation(self, *rows: Any, **hints: Any) -> bool:
        """Return True: it is one database."""
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        """Return False for the replica."""
        return False if db == REPLICA else None


class ReplicaMiddleware:
    """Lets the views of `REPLICA_ROOMS` read from the replica. It is the last, as it calls the view."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Return the view's answer, read from the replica; None, to have it read from the primary."""
        is_report = view.__module__.partition(".")[0] in settings.REPLICA_ROOMS
        if not is_report or request.method not in ("GET", "HEAD") or not _has_all():
            return None
        reading = _Reading()
        try:
            with _on(reading):
                response: HttpResponseBase = view(request, *args, **kwargs)
        except Error as error:
            if not reading.is_there:
                raise
            _pause(error)
            return None
        if isinstance(response, StreamingHttpResponse):
            chunks = cast("Iterable[bytes]", response.streaming_content)
            response.streaming_content = _streamed(chunks, reading)
        return response


@contextmanager
def replica_reads() -> Iterator[None]:
    """Read from the replica where it has all that is committed now; else, and after a write, from the primary."""
    if REPLICA not in settings.DATABASES or not _has_all():
        yield
        return
    try:
        with _on(_Reading()):
            yield
    except Error as error:
        _pause(error)
        raise


@contextmanager
def _on(reading: _Reading) -> Iterator[None]:
    before = _reading.set(reading)
    try:
        yield
    finally:
        _reading.reset(before)


def _streamed(chunks: Iterable[bytes], reading: _Reading) -> Iterator[bytes]:
    """Yield what is made as it is sent, after the view has returned."""
    each = iter(chunks)
    while True:
        try:
            with _on(reading):
                chunk = next(each, None)
        except Error as error:
            _pause(error)
            raise
        if chunk is None:
            return
        yield chunk


def _has_all() -> bool:
    """Return whether the replica has replayed what the primary has written so far; wait for it a little."""
    if time.monotonic() < _away_until:
        return False
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_HERE)
        here = cursor.fetchone()
    try:
        reason = _behind(here)
    except Error as error:
        reason = str(error)
    if reason:
        _pause(reason)
    return not reason


def _behind(here: tuple[Any, ...]) -> str:
    """Return why the replica is of no use, or nothing."""
    deadline = time.monotonic() + settings.REPLICA_WAIT_SECONDS
    with connections[REPLICA].cursor() as cursor:
        while True:
            cursor.execute(_THERE, here)
            is_replica, has_all, is_ours, seconds = cursor.fetchone()
            if not is_replica or not is_ours:
                return "TOOLEVALS_REPLICA_URL names no replica of this database"
            if has_all:
                return ""
            if time.monotonic() > deadline:
                return f"the replica is behind; what it has replayed last was written {seconds or 0:.0f} seconds ago"
            time.sleep(_POLL_SECONDS)


def _pause(reason: Exception | str) -> None:
    global _away_until  # noqa: PLW0603 - of the process
    _away_until = time.monotonic() + PAUSE_SECONDS
    first = next(iter(str(reason).strip().splitlines()), "")
    logger.warning("Reports are read from the primary for %d seconds: %s", PAUSE_SECONDS, first)
