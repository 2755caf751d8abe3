"""Has the database write ids as the text that files have: millions of `UUID` objects cost more than their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler

# Where the parts of an id begin, from 1, and how long they are; SQLite stores it without hyphens.
_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))


class TextOfId(models.Func):
    """A UUID as `str` writes it."""

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
