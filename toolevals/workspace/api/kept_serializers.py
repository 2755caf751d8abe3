"""Keeps one serializer of a kind for all requests: to copy its fields for each takes longer than to use them.

Only for kinds that need no context, and whose methods keep nothing of what they are given.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from rest_framework.exceptions import ValidationError
from rest_framework.serializers import Serializer


def shown(kind: type[Serializer[Any]], row: Any) -> dict[str, Any]:
    """Return what `kind(row).data` holds."""
    return dict(_kept(kind).to_representation(row))


def valid_data(kind: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    """Return the valid data of what was sent. Raises ValidationError as `is_valid(raise_exception=True)` does."""
    try:
        return cast("dict[str, Any]", _kept(kind).run_validation(data))
    except ValidationError:
        # Which words it has for a body that is no object, it knows by what it was made of.
        serializer = kind(data=data)
        serializer.is_valid(raise_exception=True)
        return cast("dict[str, Any]", serializer.validated_data)


@cache
def _kept(kind: type[Serializer[Any]]) -> Serializer[Any]:
    return kind()
