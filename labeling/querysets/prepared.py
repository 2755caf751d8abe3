"""Queries that are put together once in a process, not with each request.

Django takes longer to put a query with many conditions together than the database to answer it. This keeps its text,
with the places of the values that differ from time to time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, models

# What stands for a value while a query is put together: nothing else in it looks like these.
A_MOMENT = datetime(1999, 9, 9, 9, 9, 9, 999, tzinfo=UTC)


def an_id(number: int) -> UUID:
    """Return an id that nothing has, to stand for another."""
    return UUID(int=0xF00DF00D_0000_4000_8000_000000000000 + number)


class PreparedQuery:
    """A query of `build`, which takes stand-ins by name and returns a queryset of values.

    `stand_ins`: ids and moments, each unlike the others.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, Any]], stand_ins: Mapping[str, Any]) -> None:
        self._build, self._stand_ins = build, stand_ins
        self._texts: dict[str, tuple[str, tuple[Any, ...]]] = {}

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        """Return the rows for these values, as the driver gives them."""
        connection = connections[DEFAULT_DB_ALIAS]
        if connection.vendor not in self._texts:
            sql, parameters = self._build(**self._stand_ins).query.sql_with_params()
            names = {_prepared(value, connection): name for name, value in self._stand_ins.items()}
            self._texts[connection.vendor] = sql, tuple((names.get(each), each) for each in parameters)
        sql, places = self._texts[connection.vendor]
        known = {name: _prepared(value, connection) for name, value in values.items()}
        with connection.cursor() as cursor:
            cursor.execute(sql, [each if name is None else known[name] for name, each in places])
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def _prepared(value: Any, connection: Any) -> Any:
    field: models.Field[Any, Any] = models.UUIDField() if isinstance(value, UUID) else models.DateTimeField()
    return field.get_db_prep_value(value, connection)
