"""Tell PostgreSQL, for each connection, what kind of work comes."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper


def connection_prepare(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Have no query compiled: that takes half a second, and what is asked here is answered in a tenth of one."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET jit = off")
