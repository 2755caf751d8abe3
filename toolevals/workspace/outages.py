"""Tells which errors are outages: faults that keep the server from its work, such as a database away or a full disk."""

from __future__ import annotations

import errno
import sqlite3
from dataclasses import dataclass
from http import HTTPStatus

from django.db import Error

RETRY_SECONDS = 5
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# SQLite's primary codes; the extended ones have them in their low byte.
_SQLITE_AWAY = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL}
)
# PostgreSQL's classes 08 (connection), 57P (shutdown), and single codes: too many connections, lock not available,
# deadlock, serialization failure, query cancelled.
_POSTGRES_AWAY = ("08", "57P", "53300", "55P03", "40P01", "40001", "57014")
_POSTGRES_FULL = "53100"


@dataclass(frozen=True, slots=True)
class Outage:
    """The reason why a request could not be answered, as a status and sentences; `retry_after` in seconds."""

    status: HTTPStatus
    title: str
    sentence: str
    retry_after: int | None = None


AWAY = Outage(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "The database does not answer at the moment.",
    "Nothing was saved. Try again in a few seconds.",
    RETRY_SECONDS,
)
BUSY = Outage(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "The database is busy with other work.",
    "Nothing was saved. Try again in a few seconds.",
    RETRY_SECONDS,
)
FULL = Outage(
    HTTPStatus.INSUFFICIENT_STORAGE,
    "The server’s disk is full.",
    "Nothing in this request was saved. The operator of the server must make room; then send it again.",
)

STORAGE = Outage(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "The storage of uploads does not answer at the moment.",
    "Nothing was saved. Try again in a few seconds.",
    RETRY_SECONDS,
)


class StorageError(OSError):
    """The storage of uploads does not answer, or refuses: the operator reads why in the log."""


def outage_of(error: BaseException | None) -> Outage | None:
    """Return what an exception says is out of order for a while; None where the program is at fault, or nothing."""
    while error is not None:
        if (found := _outage(error)) is not None:
            return found
        error = error.__cause__ or error.__context__
    return None


def _outage(error: BaseException) -> Outage | None:
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if isinstance(error, Error):
        return _of_postgres(error)
    if isinstance(error, StorageError):
        return STORAGE
    if isinstance(error, OSError) and error.errno in _FULL:
        return FULL
    return None


def _of_sqlite(code: int) -> Outage | None:
    if code == sqlite3.SQLITE_FULL:
        return FULL
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BUSY
    return AWAY if code in _SQLITE_AWAY else None


def _of_postgres(error: Error) -> Outage | None:
    cause = error.__cause__
    if cause is None or isinstance(cause, sqlite3.Error):
        return None
    state = getattr(cause, "sqlstate", None)
    if state is None:
        # The driver's own: no connection was to be had, or it broke.
        return AWAY if type(error).__name__ in ("OperationalError", "InterfaceError") else None
    if state == _POSTGRES_FULL:
        return FULL
    return AWAY if state.startswith(_POSTGRES_AWAY) else None
