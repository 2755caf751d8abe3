"""Lets PostgreSQL plan a statement once for each connection, not each time that it is sent.

Planning the queries that every label asks takes longer than answering them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from django.db.backends.utils import CursorWrapper
from psycopg import ClientCursor, Cursor


@dataclass(frozen=True, slots=True)
class _Sent:
    """A statement with its values, for logs: `query` is its text as Django reads it."""

    connection: Any
    text: Any
    values: Any

    @property
    def query(self) -> bytes:
        """Return the statement with the values in their places."""
        return ClientCursor(self.connection).mogrify(self.text, self.values).encode()


class PreparingCursor(Cursor[Any]):
    """A cursor whose statements are prepared, where the connection's `prepare_threshold` allows that."""

    def execute(
        self, query: Any, params: Any = None, *, prepare: bool | None = True, binary: bool | None = None
    ) -> Self:
        """Prepare and execute a statement."""
        super().execute(query, params, prepare=prepare, binary=binary)
        # A statement that was prepared before leaves none.
        self._query = _Sent(self.connection, query, params)  # type: ignore[assignment]
        return self


def preparing_cursor(connection: Any) -> CursorWrapper:
    """Return such a cursor of one of Django's connections to PostgreSQL, logged and wrapped as its others are."""
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        wrapped: CursorWrapper = connection._prepare_cursor(PreparingCursor(connection.connection))
    return wrapped
