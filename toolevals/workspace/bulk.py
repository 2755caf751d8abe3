"""Writes many rows at once: `executemany` on SQLite, COPY on PostgreSQL; several times faster than `bulk_create`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.utils import CursorWrapper

from toolevals.grading.values.canonical import Written
from toolevals.workspace.fields import DocumentField

# What both drivers take as it is.
_READY: frozenset[type] = frozenset({str, int, float, type(None)})
_READY_OF_POSTGRESQL = _READY | {UUID, datetime}
_DOCUMENT_READY: frozenset[type] = frozenset({Written, type(None)})

_Preparation = tuple[frozenset[type], Callable[[Any], Any]]

COPIED_AT_ONCE = 2000
# Several times as long as a transaction that waits for SQLite's lock pauses before it asks again.
LEFT_TO_OTHERS_SECONDS = 0.02
SQLITE_LOG_WAIT_MS = 500
# Of each index, by SQLite.
ROWS_LOOKED_AT = 400
# The tables that are a tenth larger than when PostgreSQL's planner was told of them, as its own autovacuum has it.
_GROWN = """
SELECT relname FROM pg_class
WHERE oid IN (SELECT to_regclass(quote_ident(name)) FROM unnest(%s::text[]) AS name)
AND 10 * pg_relation_size(oid) > 11 * relpages * current_setting('block_size')::bigint
"""


def others_write_first() -> None:
    """Let those who wait to write go first: called between two short transactions of long work.

    SQLite gives its lock to the one who asks when it is free, and those who wait ask every few milliseconds: work that
    takes it again at once would keep it.
    """
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(LEFT_TO_OTHERS_SECONDS)


def write_ahead_log_empty() -> bool:
    """Empty SQLite's write-ahead log, which stays as large as it once became; return whether it is empty.

    It waits half a second at most for those who read older rows: no other can write meanwhile.
    """
    if connection.vendor != "sqlite":
        return True
    if connection.in_atomic_block:
        return False
    with connection.cursor() as cursor:
        [before] = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {SQLITE_LOG_WAIT_MS}")
        try:
            [busy, _, _] = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {before}")
    return not busy


def rows_insert(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of Python values, in the order of `columns`, which are attribute names such as "revision_id".

    Every column without a database default must be named, the primary key included; moments tell their time zone. Call
    it inside a transaction: a row that violates a constraint fails them all.
    """
    into, prepare = _columns(model, tuple(columns), connection.vendor)
    ready: Any = (
        [
            value if type(value) in as_it_is else make(value)
            for (as_it_is, make), value in zip(prepare, row, strict=True)
        ]
        for row in rows
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Some at a time: nothing else can be asked of a connection that copies, and `rows` may ask.
            while some := list(islice(ready, COPIED_AT_ONCE)):
                with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                    for values in some:
                        copy.write_row(values)
        else:
            cursor.executemany(f"INSERT INTO {into} VALUES ({', '.join(['%s'] * len(prepare))})", ready)  # noqa: S608


def tables_analyze(*tables: type[models.Model], keys_only: bool = False) -> None:
    """Tell the database's planner of many new rows: SQLite's knows nothing else, PostgreSQL's only some time later.

    What it takes does not grow with the tables. PostgreSQL is told of those that have grown by a tenth since it was
    told last; with `keys_only` of their keys alone, which takes a third of the time: how many rows belong to one.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_GROWN, [[table._meta.db_table for table in tables]])
            grown = {name for (name,) in cursor.fetchall()}
            if told := [_columns_of(table, keys_only) for table in tables if table._meta.db_table in grown]:
                cursor.execute(f"ANALYZE {', '.join(told)}")
        else:
            analyze_each(cursor, [connection.ops.quote_name(table._meta.db_table) for table in tables])


def _columns_of(table: type[models.Model], keys_only: bool) -> str:
    """Return a table's name, with the names of its keys where only they are wanted.

    With them go the columns that say which rows a unique index holds: without those PostgreSQL takes it for nearly
    empty, and reads all of it for each few rows.
    """
    meta, quote = table._meta, connection.ops.quote_name
    conditions = [each.condition for each in meta.constraints if isinstance(each, models.UniqueConstraint)]
    named = {name for condition in conditions if condition for name in condition.referenced_base_fields}
    keys = [quote(str(field.column)) for field in meta.concrete_fields if field.is_relation or field.name in named]
    return quote(meta.db_table) + (f" ({', '.join(keys)})" if keys_only and keys else "")


def analyze_each(cursor: CursorWrapper, names: Iterable[str]) -> None:
    """Tell SQLite's planner of the rows of these tables."""
    cursor.execute(f"PRAGMA analysis_limit = {ROWS_LOOKED_AT}")
    for name in names:
        cursor.execute(f"ANALYZE {name}")


@cache
def _columns(model: type[models.Model], columns: tuple[str, ...], _vendor: str) -> tuple[str, tuple[_Preparation, ...]]:
    """Return a table's name with those of some columns, and how values are made ready for each: once in a process."""
    by_attribute = {field.attname: field for field in model._meta.concrete_fields}
    fields = [by_attribute[column] for column in columns]
    quote = connection.ops.quote_name
    into = f"{quote(model._meta.db_table)} ({', '.join(quote(str(field.column)) for field in fields)})"
    return into, tuple(map(_preparation, fields))


def _preparation(field: models.Field[Any, Any]) -> _Preparation:
    """Return the types of a field's values that the driver takes as they are, and what turns the others into its own.

    Most values are of such a type: to ask for it costs a tenth of a call.
    """
    if isinstance(field, DocumentField):
        return _DOCUMENT_READY, field.get_prep_value

    def prepare(value: Any) -> Any:
        return value.hex if type(value) is UUID else field.get_db_prep_save(value, connections[DEFAULT_DB_ALIAS])

    return _READY_OF_POSTGRESQL if connection.vendor == "postgresql" else _READY, prepare
