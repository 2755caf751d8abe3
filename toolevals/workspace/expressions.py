"""Have the database write ids as text, count the rows of several querysets at once, and look up by an id of a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Case, Subquery, UUIDField, Value, When
from django.db.models.sql.compiler import SQLCompiler

# Where the parts of an id begin, from 1, and how long they are; SQLite stores it without hyphens.
_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))


class TextOfId(models.Func):
    """A UUID as `str` writes it: millions of `UUID` objects cost more than their rows."""

    template = "CAST(%(expressions)s AS text)"
    output_field = models.TextField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        parts = " || '-' || ".join(f"substr(%(expressions)s, {start}, {length})" for start, length in _PARTS)
        return super().as_sql(compiler, connection, template=parts, **context)


def ids_as_text(rows: models.QuerySet[Any, Any], columns: Sequence[Any]) -> list[Any]:
    """Return columns for `values_list`, where those that hold UUIDs become text; expressions stay as they are."""
    return [TextOfId(each) if isinstance(each, str) and _is_id(rows, each) else each for each in columns]


def _is_id(rows: models.QuerySet[Any, Any], column: str) -> bool:
    # A copy, since looking a column up joins its tables.
    field = rows.query.clone().resolve_ref(column).output_field
    return isinstance(getattr(field, "target_field", field), models.UUIDField)


def known_with(number: str, value: UUID) -> Case:
    """Return an id to compare with, which the database knows only with a row of the table that `number` is in.

    `number` is the path of a column that is never below zero. Of a run that is new, PostgreSQL takes it that it has
    hardly any transcripts, and would read all of them for each few entries. It cannot where the run's id comes with
    the entry: an index then finds those of this entry.
    """
    return Case(When(**{f"{number}__gte": 0}, then=Value(value, UUIDField())))


class Length(Subquery):
    """The number of rows of a subquery."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = models.IntegerField()


class Different(Subquery):
    """The number of different values that a subquery has in its column `different`."""

    template = "(SELECT COUNT(DISTINCT counted.different) FROM (%(subquery)s) counted)"
    output_field = models.IntegerField()


def lengths(
    place: models.Model, rows: Sequence[models.QuerySet[Any, Any]], *, most: int, also: Sequence[Subquery] = ()
) -> models.QuerySet[Any, tuple[Any, ...]]:
    """Return the query of how many rows each queryset has, at most `most`: one row; `place` is any row there is.

    `also`: what else is asked in the same statement, behind the numbers.
    """
    counted = [Length(each.order_by().values("pk")[:most]) for each in rows]
    return type(place)._default_manager.filter(pk=place.pk).order_by().values_list(*counted, *also)
