"""Show what roles, people and intervals look like in JSON, and make serializers cheap."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.serializers import Serializer

from toolevals.presentation.table import INTERVAL
from toolevals.workspace.models import Role, User
from toolevals.workspace.tables import serializer_of


@extend_schema_field({"type": "string", "enum": Role.labels})
class RoleField(serializers.Field):  # type: ignore[type-arg]
    """A role by its name."""

    def to_representation(self, value: int) -> str:
        return str(Role(value).label)

    def to_internal_value(self, data: Any) -> Role:
        for role in Role:
            if data == role.label:
                return role
        raise serializers.ValidationError(f"A role is one of {', '.join(Role.labels)}.")


class UserSerializer(serializers.ModelSerializer[User]):
    """A person, as other members see them."""

    class Meta:
        model = User
        fields = ("id", "name", "email")


IntervalSerializer = serializer_of(INTERVAL)


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
    """Return the one serializer of a kind for all requests: to copy its fields for each takes longer than to use them.

    Only for kinds that need no context, and whose methods keep nothing of what they are given.
    """
    return kind()
