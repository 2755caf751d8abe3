"""Has PostgreSQL look up the rows of each of a few others, whatever it knows of how many there are."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Case, UUIDField, Value, When


def known_with(number: str, value: UUID) -> Case:
    """Return an id to compare with, which the database knows only with a row of the table that `number` is in.

    `number` is the path of a column that is never below zero. Of a run that is new, PostgreSQL takes it that it has
    hardly any transcripts, and would read all of them for each few entries. It cannot where the run's id comes with
    the entry: an index then finds those of this entry.
    """
    return Case(When(**{f"{number}__gte": 0}, then=Value(value, UUIDField())))
