"""Counts requests, tokens and calls of tools by key and minute: exactly, however many processes count at once.

A call is counted before it is decided, so that of many at once each knows how many came before it. Where it is refused
its count is taken back. Each is one statement; a minute is one of the database's clock, from its first second on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import OperationalError, connection
from django.db.backends.utils import CursorWrapper
from uuid_utils.compat import uuid7

from toolevals.registry.guard_checks.models import LONGEST_NAME, GuardCount
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.clock import database_now

KEPT = timedelta(days=1)
FORGOTTEN_AT_ONCE = 1_000
# PostgreSQL takes both at once.
_SHORT = "SET LOCAL lock_timeout = {}; "


class Counts(NamedTuple):
    """The counts of a minute without the call itself."""

    requests: int
    tokens: int
    tool_calls: int


class Counted(NamedTuple):
    """A call that was counted, by which it is taken back."""

    project: UUID
    minute: datetime
    key: str
    tool: str
    tokens: int
    before: Counts


def call_count(*, project: UUID, key: str, tool: str, tokens: int, milliseconds: int) -> Counted | None:
    """Count a call and return what was counted before it; None where the database could not say in time."""
    key, tool = short_name(key), short_name(tool)
    try:
        minute = _this_minute()
        found = _add(project, minute, key, tool, requests=1, tokens=tokens, refused=0, milliseconds=milliseconds)
    except OperationalError:
        return None
    requests, all_tokens = found[""]
    calls = found[tool][0] - 1 if tool else 0
    return Counted(project, minute, key, tool, tokens, Counts(requests - 1, all_tokens - tokens, calls))


def call_take_back(counted: Counted, *, milliseconds: int) -> None:
    """Count a call as refused and no longer as made, where the database can do it in time."""
    with suppress(OperationalError):
        _add(*counted[:4], requests=-1, tokens=-counted.tokens, refused=1, milliseconds=milliseconds)


def refusal_count(*, project: UUID, key: str, tool: str, milliseconds: int) -> None:
    """Count a refusal of a result, or of a call that was not counted, where the database can do it in time."""
    with suppress(OperationalError):
        names = short_name(key), short_name(tool)
        _add(project, _this_minute(), *names, requests=0, tokens=0, refused=1, milliseconds=milliseconds)


def _this_minute() -> datetime:
    return database_now().replace(second=0, microsecond=0)


def guard_counts_forget(now: datetime) -> None:
    """Delete the counts that are older than a day, in short transactions."""
    old = GuardCount.objects.filter(minute__lt=now - KEPT).order_by("minute")
    while ids := list(old.values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE]):
        GuardCount.objects.filter(pk__in=ids).delete()
        others_write_first()


def _add(
    project: UUID,
    minute: datetime,
    key: str,
    tool: str,
    *,
    requests: int,
    tokens: int,
    refused: int,
    milliseconds: int,
) -> dict[str, tuple[int, int]]:
    """Add to the rows of a key and its tool, and return their requests and tokens by tool.

    The row of the key comes first: who holds it is alone with the key. Raises OperationalError where another holds the
    row, or SQLite's one lock, for longer than so many milliseconds, and where the database is away.
    """
    field, table = GuardCount._meta.pk, GuardCount._meta.db_table
    tools = ["", tool] if tool else [""]
    values: list[Any] = []
    for each in tools:
        ids = field.get_db_prep_value(uuid7(), connection), field.get_db_prep_value(project, connection)
        when = connection.ops.adapt_datetimefield_value(minute)
        values += [*ids, when, key, each, requests, tokens, refused]
    rows = ", ".join(["(%s, %s, %s, %s, %s, %s, %s, %s)"] * len(tools))
    statement = (
        f"INSERT INTO {table} (id, project_id, minute, key, tool, requests, tokens, refused) VALUES {rows} "  # noqa: S608
        "ON CONFLICT (project_id, key, tool, minute) DO UPDATE SET "
        f"requests = {table}.requests + excluded.requests, tokens = {table}.tokens + excluded.tokens, "
        f"refused = {table}.refused + excluded.refused RETURNING tool, requests, tokens"
    )
    found = said_in_time(statement, values, milliseconds)
    return {name: (int(calls), int(used)) for name, calls, used in found}


def said_in_time(statement: str, values: list[Any], milliseconds: int) -> list[tuple[Any, ...]]:
    """Return what a statement that writes says. Raises OperationalError where others keep it waiting for longer."""
    with connection.cursor() as cursor:
        return _said(cursor, statement, values, max(milliseconds, 1))


def _said(cursor: CursorWrapper, statement: str, values: list[Any], milliseconds: int) -> list[tuple[Any, ...]]:
    """Run a statement that waits so long at most for what others hold."""
    if connection.vendor == "sqlite":
        with _short_on_sqlite(cursor, milliseconds):
            cursor.execute(statement, values)
            return list(cursor.fetchall())
    cursor.execute(_SHORT.format(milliseconds) + statement, values)
    while cursor.description is None:
        cursor.nextset()
    return list(cursor.fetchall())


@contextmanager
def _short_on_sqlite(cursor: CursorWrapper, milliseconds: int) -> Iterator[None]:
    """Have SQLite wait no longer for its lock, and hold it for no wait on the disk."""
    [waits] = cursor.execute("PRAGMA busy_timeout").fetchone()
    [synchronous] = cursor.execute("PRAGMA synchronous").fetchone()
    cursor.execute(f"PRAGMA busy_timeout = {milliseconds:d}")
    if not connection.in_atomic_block:
        cursor.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {waits:d}")
        if not connection.in_atomic_block:
            cursor.execute(f"PRAGMA synchronous = {synchronous:d}")


def short_name(name: str) -> str:
    """Return a name as counts keep it: a long one by its digest."""
    return name if len(name) <= LONGEST_NAME else hashlib.sha256(name.encode()).hexdigest()
