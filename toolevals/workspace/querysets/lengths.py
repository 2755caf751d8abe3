"""How many rows a queryset has, as a value inside another query: several numbers are then one statement."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Subquery


class Length(Subquery):
    """How many rows a subquery has."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = models.IntegerField()


def lengths(place: models.Model, rows: dict[str, models.QuerySet[Any, Any]], *, most: int) -> dict[str, int]:
    """Return how many rows each queryset has, by its name, at most `most`. One query; `place` is any row there is."""
    if not rows:
        return {}
    counted = {name: Length(each.order_by().values("pk")[:most]) for name, each in rows.items()}
    found = type(place)._default_manager.filter(pk=place.pk).values_list(*counted.values())
    return dict(zip(rows, found.get(), strict=True))
