"""Show what the workspace's objects look like in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from toolevals.presentation.table import INTERVAL
from toolevals.workspace.models import (
    Role,
    User,
)
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
