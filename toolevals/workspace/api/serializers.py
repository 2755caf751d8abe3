"""What the workspace's objects look like in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from toolevals.workspace.models import ApiToken, AuditEntry, Job, JobState, Membership, Project, Role, Secret, User


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
    """Who asks; with a token, in which project and as what."""

    user = UserSerializer()
    project = serializers.SlugField(allow_null=True)
    role = RoleField(allow_null=True)


class IndexSerializer(serializers.Serializer[Any]):
    """Where to begin."""

    version = serializers.CharField()
    me = serializers.URLField()
    projects = serializers.URLField()
    openapi = serializers.URLField()


class IntervalSerializer(serializers.Serializer[Any]):
    """A 95 % interval."""

    low = serializers.FloatField()
    high = serializers.FloatField()


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """A person's role in the project."""

    user = UserSerializer()
    role = RoleField()

    class Meta:
        model = Membership
        fields = ("id", "user", "role", "created_at")


class NewMemberSerializer(serializers.Serializer[Any]):
    """Whom to make a member; with a name, an account is made if there is none."""

    email = serializers.EmailField(max_length=254)
    name = serializers.CharField(max_length=120, required=False, default="")
    role = RoleField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs["name"] and not User.objects.filter(email=attrs["email"].strip().lower()).exists():
            raise serializers.ValidationError({"name": "Nobody has this address yet. With a name, an account is made."})
        return attrs


class AddedMemberSerializer(serializers.Serializer[Any]):
    """A new member, and the first password if an account was made: it is not kept, and shown here only."""

    member = MemberSerializer()
    password = serializers.CharField(allow_null=True)


class MemberRoleSerializer(serializers.Serializer[Any]):
    """Another role."""

    role = RoleField()


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token, without its secret."""

    user = UserSerializer()
    role = RoleField()

    class Meta:
        model = ApiToken
        fields = ("id", "name", "user", "role", "prefix", "created_at", "last_used_at", "expires_at", "revoked_at")


class NewTokenSerializer(serializers.Serializer[Any]):
    """What token to make."""

    name = serializers.CharField(max_length=80)
    role = RoleField()
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class MadeTokenSerializer(serializers.Serializer[Any]):
    """A new token and its secret, which is not kept and shown here only."""

    token = TokenSerializer()
    secret = serializers.CharField()


class SecretSerializer(serializers.ModelSerializer[Secret]):
    """A secret's name, and who set it when."""

    actor = UserSerializer(allow_null=True)

    class Meta:
        model = Secret
        fields = ("id", "name", "actor", "changed_at")


class SecretValueSerializer(serializers.Serializer[Any]):
    """What to keep."""

    value = serializers.CharField(max_length=10_000, write_only=True, style={"input_type": "password"})


class JobSerializer(serializers.ModelSerializer[Job]):
    """Long work: how far it is, and what it found."""

    state = serializers.ChoiceField(choices=JobState.choices)
    report = serializers.JSONField()
    done = serializers.SerializerMethodField()
    total = serializers.SerializerMethodField()
    rate = serializers.FloatField(
        source="pace.rate", default=None, allow_null=True, help_text="Items a second in the stage at hand."
    )
    seconds_left = serializers.FloatField(
        source="pace.left.total_seconds", default=None, allow_null=True, help_text="Of that stage, at that rate."
    )

    class Meta:
        model = Job
        fields = (
            "id",
            "kind",
            "title",
            "state",
            "stage",
            "done",
            "total",
            "rate",
            "seconds_left",
            "report",
            "result_path",
            "created_at",
            "finished_at",
        )

    def get_done(self, job: Job) -> int:
        return job.progress[0]

    def get_total(self, job: Job) -> int:
        return job.progress[1]


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """One act; without an actor, the system's."""

    actor = UserSerializer(allow_null=True)
    detail = serializers.JSONField()

    class Meta:
        model = AuditEntry
        fields = ("id", "at", "actor", "verb", "target_type", "target_id", "detail")
