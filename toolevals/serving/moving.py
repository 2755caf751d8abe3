"""Copies all rows from SQLite to PostgreSQL in one transaction, and compares every table before it counts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from django.apps import apps
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import Error, connection, connections, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models.functions import Cast
from django.db.utils import DEFAULT_DB_ALIAS

from toolevals.grading.values.canonical import Written
from toolevals.settings.databases import SQLITE
from toolevals.workspace.bulk import rows_insert, tables_analyze
from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import User

SOURCE = "source"
ROWS_AT_ONCE = 2000
Model = type[models.Model]


class MoveError(Exception):
    """The rows can't be moved; the text says why. PostgreSQL holds none of them."""


def database_move(file: Path, progress: Callable[[str], None]) -> dict[str, int]:
    """Copy all rows of an SQLite database to the empty PostgreSQL of the settings; return the rows of each table.

    A process that writes to the SQLite database meanwhile waits. Raises MoveError.
    """
    if connection.vendor != "postgresql":
        raise MoveError("the target is not a PostgreSQL database")
    _source_add(file)
    source = connections[SOURCE]
    executor = MigrationExecutor(source)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise MoveError(f"{file} is of an older version: run `toolevals serve` with it once")
    tables = set(connection.introspection.table_names())
    if tables and (User._meta.db_table not in tables or User.objects.exists()):
        raise MoveError("the PostgreSQL database is not empty: name a new one")
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    found = {}
    with closing(source), transaction.atomic(using=SOURCE), transaction.atomic():
        every = apps.get_models(include_auto_created=True)
        names = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in every)
        with connection.cursor() as cursor:
            # What the migrations made.
            cursor.execute(f"TRUNCATE {names}")
        for model in every:
            name = model._meta.db_table
            try:
                copied = _Digest(progress)
                rows_insert(model, _columns(model), copied.of(name, _rows(model, SOURCE, ready=True)))
                there = _Digest(progress)
                for _ in there.of(f"{name}, compared", _rows(model, DEFAULT_DB_ALIAS)):
                    pass
            except (Error, psycopg.Error, ValueError) as error:
                raise MoveError(f"PostgreSQL does not take a row of {name}: {error}") from error
            if copied != there:
                raise MoveError(f"the rows of {name} in PostgreSQL are not those of SQLite")
            found[name] = copied.rows
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), every):
                cursor.execute(statement)
        try:
            connection.check_constraints()
        except Error as error:
            raise MoveError(f"a row names another that is missing: {error}") from error
    tables_analyze(*every)
    return found


class _Digest:
    """Counts the rows that pass, and sums their hashes: the same in any order."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self.rows, self.sum, self._progress = 0, 0, progress

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Digest) and (self.rows, self.sum) == (other.rows, other.sum)

    __hash__ = None  # type: ignore[assignment]

    def of(self, name: str, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows."""
        for row in rows:
            plain = [bytes(value) if isinstance(value, memoryview) else value for value in row]
            self.sum = (self.sum + int.from_bytes(hashlib.sha256(repr(plain).encode()).digest())) % 2**256
            self.rows += 1
            if self.rows % ROWS_AT_ONCE == 0:
                self._progress(f"{name}: {self.rows:,} rows")
            yield row
        if self.rows:
            self._progress(f"{name}: {self.rows:,} rows")


def _columns(model: Model) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


def _rows(model: Model, alias: str, *, ready: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield a table's rows; documents as their exact text, `ready` to be written so."""
    fields = model._meta.concrete_fields
    documents = {place for place, field in enumerate(fields) if isinstance(field, DocumentField)}
    asked = [
        Cast(field.attname, models.TextField()) if place in documents else field.attname
        for place, field in enumerate(fields)
    ]
    rows = model._base_manager.using(alias).order_by().values_list(*asked)
    for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
        if ready and documents:
            yield tuple(
                Written(value) if place in documents and value is not None else value for place, value in enumerate(row)
            )
        else:
            yield row


def _source_add(file: Path) -> None:
    """Make the SQLite database known to Django under a name of its own."""
    options = {"transaction_mode": "IMMEDIATE", "timeout": 20}
    added = {"ENGINE": SQLITE, "NAME": str(file), "OPTIONS": options}
    connections.settings = connections.configure_settings({**connections.settings, SOURCE: added})
