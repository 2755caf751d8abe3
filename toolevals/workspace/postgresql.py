"""Tell PostgreSQL, for each connection, what kind of work comes."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

# PostgreSQL's own default: an operator who has measured the disks has said something else, which stays.
_UNMEASURED = 4
_EXPECTED_WORK = f"""
SET jit = off;
SET plan_cache_mode = force_generic_plan;
SELECT set_config('random_page_cost', '1.1', false) WHERE current_setting('random_page_cost')::float = {_UNMEASURED}
"""


def connection_prepare(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Have no query compiled, plan what is prepared once, and let a lookup by an index cost little more than a scan.

    Compiling takes half a second, and what is asked here is answered in a tenth of one. Left to itself, PostgreSQL
    plans a prepared query again each time where it takes the general plan for a little dearer: for the next example to
    label that took thirty times as long as the query. By its default a page read at random costs four times as much
    as the next one, as on a rotating disk: it then reads whole tables for a few hundred of their rows.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_EXPECTED_WORK)
