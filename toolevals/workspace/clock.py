"""Tells the time by the database's clock, which every process shares; the clocks of their machines may differ.

What decides about rows asks here: leases, due times, the time to undo, and whatever expires.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

# A reading of the database's clock is carried on for so long, by a clock that no one sets.
KEPT_SECONDS = 30.0
# A reading is off by at most half of the time that its answer took: up to so many are asked for, until one is quick.
READINGS = 4
QUICK_SECONDS = 0.01
# What is named to the operator.
TOLERANCE = timedelta(seconds=5)
# Where it is known, one that goes on while the machine sleeps.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A look at the database's clock, and at the steady clock of this machine at the same time."""

    moment: datetime
    steady: float


_kept: _Reading | None = None


def database_now() -> datetime:
    """Return the time by the database's clock; with SQLite, that is the clock of the one machine.

    The database is asked every thirty seconds only. Raises what the database raises.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    return machine_now() if connection.vendor == "sqlite" else _server_now(connection)


def machine_now() -> datetime:
    """Return the time by the clock of this machine."""
    return datetime.now(UTC)


def _server_now(connection: Any) -> datetime:
    """Return the last reading of the clock of the database's server, carried on; a new one where that is old."""
    global _kept  # noqa: PLW0603 - one for the process
    steady = time.clock_gettime(_STEADY)
    kept = _kept
    if kept is None or steady - kept.steady > KEPT_SECONDS:
        _kept = kept = _read(connection)
        steady = time.clock_gettime(_STEADY)
    return kept.moment + timedelta(seconds=steady - kept.steady)


def clock_difference() -> str:
    """Say by how much this machine's clock differs from the database's; empty up to five seconds."""
    ahead = machine_now() - database_now()
    if abs(ahead) <= TOLERANCE:
        return ""
    side = "ahead of" if ahead > timedelta(0) else "behind"
    return f"{abs(ahead).total_seconds():.0f} seconds {side} the database's clock"


def _read(connection: Any) -> _Reading:
    """Ask the database. An answer is taken as of the middle of the time that it took; of a few, the quickest."""
    # As Django's cursors do: a connection that the server has ended since the last request is made anew.
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    took, best = float("inf"), None
    # Beside Django's cursors: what counts the queries of a page does not count these.
    with connection.wrap_database_errors, connection.connection.cursor() as cursor:
        for _ in range(READINGS):
            before = time.clock_gettime(_STEADY)
            # Not now(), which is when the transaction began.
            [moment] = cursor.execute("SELECT clock_timestamp()").fetchone()
            after = time.clock_gettime(_STEADY)
            if after - before < took:
                took, best = after - before, _Reading(moment.astimezone(UTC), (before + after) / 2)
            if took <= QUICK_SECONDS:
                break
    assert best
    return best
