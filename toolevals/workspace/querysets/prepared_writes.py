"""Puts writes together once in a process, not with each request: what `prepared` does for queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models import sql

from toolevals.workspace.querysets.prepared import Places, named_places, place_values, preparing_cursor


class PreparedUpdate:
    """An update of the rows of `build`, which takes stand-ins by name and returns a queryset and what its rows get.

    `stand_ins`: as those of a `PreparedQuery`.
    """

    def __init__(
        self,
        build: Callable[..., tuple[models.QuerySet[Any, Any], Mapping[str, Any]]],
        stand_ins: Mapping[str, Any],
    ) -> None:
        self._build, self._stand_ins = build, stand_ins
        self._compiled: dict[str, tuple[str, Places]] = {}

    def run(self, **values: Any) -> int:
        """Update the rows for these values; return how many there were."""
        connection = connections[DEFAULT_DB_ALIAS]
        if connection.vendor not in self._compiled:
            self._compiled[connection.vendor] = self._compile()
        text, places = self._compiled[connection.vendor]
        with preparing_cursor(connection) as cursor:
            cursor.execute(text, place_values(places, values, connection))
            changed: int = cursor.rowcount
        return changed

    def _compile(self) -> tuple[str, Places]:
        rows, changes = self._build(**self._stand_ins)
        query: Any = rows.query.chain(sql.UpdateQuery)
        query.add_update_values(changes)
        query.clear_ordering(force=True)
        text, parameters = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
        return text, named_places(parameters, self._stand_ins)


class PreparedDelete:
    """The deletion of the rows of `build`, which takes stand-ins by name and returns a queryset of one table.

    Nothing may refer to its rows, and no signals are sent. `stand_ins`: as those of a `PreparedQuery`.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, Any]], stand_ins: Mapping[str, Any]) -> None:
        self._build, self._stand_ins = build, stand_ins
        self._compiled: dict[str, tuple[str, Places]] = {}

    def run(self, **values: Any) -> int:
        """Delete the rows for these values; return how many there were."""
        connection = connections[DEFAULT_DB_ALIAS]
        if connection.vendor not in self._compiled:
            query: Any = self._build(**self._stand_ins).query.chain(sql.DeleteQuery)
            text, parameters = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
            self._compiled[connection.vendor] = text, named_places(parameters, self._stand_ins)
        text, places = self._compiled[connection.vendor]
        with preparing_cursor(connection) as cursor:
            cursor.execute(text, place_values(places, values, connection))
            deleted: int = cursor.rowcount
        return deleted


class PreparedInsert:
    """The insertion of one row of a model that has no parents, and whose fields all get their values from Python."""

    def __init__(self, model: type[models.Model]) -> None:
        self._model = model
        self._texts: dict[str, str] = {}

    def create(self, **values: Any) -> Any:
        """Return a new object that is stored, as the model's manager makes one; no signals are sent."""
        connection = connections[DEFAULT_DB_ALIAS]
        made = self._model(**values)
        fields: Any = self._model._meta.concrete_fields
        row = [field.get_db_prep_save(field.pre_save(made, True), connection) for field in fields]
        if connection.vendor not in self._texts:
            quote = connection.ops.quote_name
            names = ", ".join(quote(field.column) for field in fields)
            places = ", ".join(["%s"] * len(fields))
            table = quote(self._model._meta.db_table)
            self._texts[connection.vendor] = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608
        with preparing_cursor(connection) as cursor:
            cursor.execute(self._texts[connection.vendor], row)
        made._state.adding, made._state.db = False, DEFAULT_DB_ALIAS
        return made
