"""Show what the workspace's objects look like in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from toolevals.presentation.table import INTERVAL
from toolevals.workspace.models import (
    ApiToken,
    AuditEntry,
    Invitation,
    InvitationState,
    Membership,
    Project,
    Role,
    Secret,
    TokenScope,
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


class ProjectSerializer(serializers.ModelSerializer[Project]):
    """A project."""

    class Meta:
        model = Project
        fields = ("id", "slug", "name", "labels_wanted", "undo_seconds", "created_at")


class NewProjectSerializer(serializers.Serializer[Any]):
    """A project to make."""

    slug = serializers.SlugField(max_length=60, help_text="For addresses: letters, digits and hyphens.")
    name = serializers.CharField(max_length=120)


class MeSerializer(serializers.Serializer[Any]):
    """The person who asks; with a token, the project and the token's purpose."""

    user = UserSerializer()
    project = serializers.SlugField(allow_null=True)
    role = RoleField(allow_null=True)


class IndexSerializer(serializers.Serializer[Any]):
    """The first addresses of the interface."""

    version = serializers.CharField()
    me = serializers.URLField()
    projects = serializers.URLField()
    openapi = serializers.URLField()


IntervalSerializer = serializer_of(INTERVAL)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """A person's role in the project."""

    user = UserSerializer()
    role = RoleField()

    class Meta:
        model = Membership
        fields = ("id", "user", "role", "created_at")


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An invitation, without its link."""

    role = RoleField()
    actor = UserSerializer(allow_null=True)
    state = serializers.ChoiceField(choices=InvitationState.choices)
    is_expired = serializers.BooleanField(help_text="Pending, but its time is over.")

    class Meta:
        model = Invitation
        fields = ("id", "email", "role", "state", "is_expired", "actor", "created_at", "expires_at", "ended_at")


class NewInvitationSerializer(serializers.Serializer[Any]):
    """Whom to invite, as what."""

    email = serializers.EmailField(max_length=254)
    role = RoleField()


class MadeInvitationSerializer(serializers.Serializer[Any]):
    """An invitation and its link, which is not kept and shown here only."""

    invitation = InvitationSerializer()
    link = serializers.URLField()


class MemberRoleSerializer(serializers.Serializer[Any]):
    """Another role."""

    role = RoleField()


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token, without its secret."""

    user = UserSerializer()
    role = RoleField()

    class Meta:
        model = ApiToken
        fields = (
            "id",
            "name",
            "user",
            "role",
            "scope",
            "prefix",
            "created_at",
            "last_used_at",
            "expires_at",
            "revoked_at",
        )


class NewTokenSerializer(serializers.Serializer[Any]):
    """A token to make."""

    name = serializers.CharField(max_length=80)
    role = RoleField()
    scope = serializers.ChoiceField(
        choices=TokenScope.choices,
        default=TokenScope.PROJECT,
        help_text="`traces`: it sends traces to /v1/traces and does nothing else, in any role.",
    )
    expires_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When it ends; null is never. Unless said, never, or when the token ends that asks for it.",
    )


class MadeTokenSerializer(serializers.Serializer[Any]):
    """A new token and its secret, which is not kept and shown here only."""

    token = TokenSerializer()
    secret = serializers.CharField()


class SecretSerializer(serializers.ModelSerializer[Secret]):
    """A secret's name, where it may be sent, and who set it when."""

    addresses = serializers.ListField(child=serializers.CharField())
    actor = UserSerializer(allow_null=True)

    class Meta:
        model = Secret
        fields = ("id", "name", "addresses", "actor", "changed_at")


class SecretValueSerializer(serializers.Serializer[Any]):
    """The value of a secret, and where it may be sent. A new one, and other addresses, need a value.

    Addresses that are left out stay as they are.
    """

    value = serializers.CharField(max_length=10_000, required=False, write_only=True, style={"input_type": "password"})
    addresses = serializers.ListField(
        child=serializers.CharField(max_length=300),
        required=False,
        help_text="Scheme, host and port, such as https://models.example.org. It is sent nowhere else.",
    )


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """One act; without an actor, the system's."""

    actor = UserSerializer(allow_null=True)
    detail = serializers.JSONField(source="shown_detail")

    class Meta:
        model = AuditEntry
        fields = ("id", "at", "actor", "verb", "target_type", "target_id", "detail")
