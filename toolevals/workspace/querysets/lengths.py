"""Read how many rows a queryset has, as a value inside another query: several numbers are then one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models import Subquery


class Length(Subquery):
    """The number of rows of a subquery."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = models.IntegerField()


def lengths(
    place: models.Model, rows: Sequence[models.QuerySet[Any, Any]], *, most: int
) -> models.QuerySet[Any, tuple[int, ...]]:
    """Return the query of how many rows each queryset has, at most `most`: one row; `place` is any row there is."""
    counted = [Length(each.order_by().values("pk")[:most]) for each in rows]
    return type(place)._default_manager.filter(pk=place.pk).order_by().values_list(*counted)
