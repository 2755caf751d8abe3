"""Tell PostgreSQL, for each connection, what kind of work comes."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper


def connection_prepare(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Have no query compiled, and plan what is prepared once.

    Compiling takes half a second, and what is asked here is answered in a tenth of one. Left to itself, PostgreSQL
    plans a prepared query again each time where it takes the general plan for a little dearer: for the next example to
    label that took thirty times as long as the query.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET jit = off; SET plan_cache_mode = force_generic_plan")
