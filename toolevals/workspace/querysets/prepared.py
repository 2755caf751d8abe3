"""Puts queries together once in a process, not with each request.

Django takes longer to put a query with many conditions together than the database to answer it. This keeps its text,
with the places of the values that differ from time to time, and how its rows become objects. PostgreSQL keeps its plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.query import ModelIterable, get_related_populators

# What stands for a value while a query is put together: nothing else in it looks like these.
A_MOMENT = datetime(1999, 9, 9, 9, 9, 9, 999, tzinfo=UTC)
ANOTHER_MOMENT = A_MOMENT.replace(month=8)
A_TEXT = "f00df00d-stands-for-a-text"
A_NUMBER = 2_011_224_099
# Of a column of small numbers: of one that is too large for it Django says that no row has it.
A_SMALL_NUMBER = 31_099

STREAMED_AT_ONCE = 5000

# For each parameter of a statement the name of what takes its place, None where it always is the value beside it.
Places = tuple[tuple[str | None, Any], ...]

# How the two kinds of values that a driver does not take as they are, are sent to a database.
_ID: models.Field[Any, Any] = models.UUIDField()
_MOMENT: models.Field[Any, Any] = models.DateTimeField()

# Untyped: the stubs are those of a later Django, which takes one more argument.
_POPULATORS: Any = get_related_populators


def an_id(number: int) -> UUID:
    """Return an id that nothing has, to stand for another."""
    return UUID(int=0xF00DF00D_0000_4000_8000_000000000000 + number)


class PreparedQuery:
    """A query of `build`, which takes stand-ins by name and returns a queryset.

    `stand_ins`: ids, moments, texts and numbers, each unlike the others. `by_values`: whether the database plans it
    each time, for these values: where one person has written half of a table and another nothing, one plan serves one.
    """

    def __init__(
        self, build: Callable[..., models.QuerySet[Any, Any]], stand_ins: Mapping[str, Any], *, by_values: bool = False
    ) -> None:
        self._build, self._stand_ins, self._by_values = build, stand_ins, by_values
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        """Return the rows for these values, as the driver gives them."""
        return self._prepare().rows(values)

    def values(self, **values: Any) -> list[list[Any]]:
        """Return the rows for these values as Python has them, such as ids."""
        compiled = self._prepare()
        return list(compiled.converted(compiled.rows(values)))

    def stream(self, **values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows for these values as Python has them, a part at a time: for rows that may be very many.

        The database plans it each time. Behind a pool of connections all rows are held at once.
        """
        return self._prepare().stream(values)

    def objects(self, **values: Any) -> list[Any]:
        """Return the objects for these values, with what the queryset joins and adds to them."""
        compiled = self._prepare()
        return list(compiled.objects(compiled.rows(values)))

    def first(self, **values: Any) -> Any:
        """Return the first of `objects`, None where there is none."""
        return next(iter(self.objects(**values)), None)

    def _prepare(self) -> _Compiled:
        vendor = connections[DEFAULT_DB_ALIAS].vendor
        if vendor not in self._compiled:
            self._compiled[vendor] = _Compiled(
                self._build(**self._stand_ins), self._stand_ins, by_values=self._by_values
            )
        return self._compiled[vendor]


class _Compiled:
    """A query's text with the places of its values, for one kind of database."""

    def __init__(self, queryset: models.QuerySet[Any, Any], stand_ins: Mapping[str, Any], *, by_values: bool) -> None:
        self._cursor = type(connections[DEFAULT_DB_ALIAS]).cursor if by_values else preparing_cursor
        # Untyped: what a compiler knows of the columns is Django's own business, and its `ModelIterable` reads it so.
        compiler: Any = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
        self.text, parameters = compiler.as_sql()
        self.places = named_places(parameters, stand_ins)
        self.added: dict[str, int] = compiler.annotation_col_map or {}
        self.converters = compiler.get_converters([column for column, *_ in compiler.select[: compiler.col_count]])
        # Untyped: how a queryset reads its rows is Django's own business.
        kind: Any = queryset
        if kind._iterable_class is ModelIterable:
            own = compiler.klass_info["select_fields"]
            self.model = compiler.klass_info["model"]
            self.columns = slice(own[0], own[-1] + 1)
            self.names = [column.target.attname for column, *_ in compiler.select[self.columns]]
            self.joined = _POPULATORS(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)

    def rows(self, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        connection = connections[DEFAULT_DB_ALIAS]
        with self._cursor(connection) as cursor:
            cursor.execute(self.text, place_values(self.places, values, connection))
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found

    def stream(self, values: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        connection = connections[DEFAULT_DB_ALIAS]
        is_pooled = connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS")
        with connection.cursor() if is_pooled else connection.chunked_cursor() as cursor:
            cursor.execute(self.text, place_values(self.places, values, connection))
            while rows := cursor.fetchmany(STREAMED_AT_ONCE):
                yield from map(tuple, self.converted(rows)) if self.converters else rows

    def objects(self, rows: list[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield an object for each row, as `django.db.models.query.ModelIterable` makes it."""
        for values in self.converted(rows):
            found = self.model.from_db(DEFAULT_DB_ALIAS, self.names, values[self.columns])
            for each in self.joined:
                each.populate(values, found)
            for name, position in self.added.items():
                setattr(found, name, values[position])
            yield found

    def converted(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
        """Yield the values of each row as Python has them."""
        connection = connections[DEFAULT_DB_ALIAS]
        converters = [
            (position, convert, expression)
            for position, (several, expression) in self.converters.items()
            for convert in several
        ]
        for row in rows:
            values = list(row)
            for position, convert, expression in converters:
                values[position] = convert(values[position], expression, connection)
            yield values


def named_places(parameters: Sequence[Any], stand_ins: Mapping[str, Any]) -> Places:
    """Return the places of a statement: the name of the stand-in that each parameter is, None where it is a value."""
    connection = connections[DEFAULT_DB_ALIAS]
    names = {_prepared(value, connection): name for name, value in stand_ins.items()}
    return tuple((names.get(each), each) for each in parameters)


def place_values(places: Places, values: Mapping[str, Any], connection: Any) -> list[Any]:
    """Return the parameters of a statement for these values."""
    known = {name: _prepared(value, connection) for name, value in values.items()}
    return [each if name is None else known[name] for name, each in places]


def preparing_cursor(connection: Any) -> Any:
    """Return a cursor that lets the database plan a statement once, where it can."""
    if connection.vendor != "postgresql" or connection.settings_dict["OPTIONS"].get("prepare_threshold") is None:
        return connection.cursor()
    # SQLite needs no driver of PostgreSQL.
    from toolevals.workspace.querysets import preparing

    return preparing.preparing_cursor(connection)


def _prepared(value: Any, connection: Any) -> Any:
    if isinstance(value, str | int):
        return value
    return (_ID if isinstance(value, UUID) else _MOMENT).get_db_prep_value(value, connection)
