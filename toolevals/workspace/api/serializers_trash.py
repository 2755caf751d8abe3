"""Show what deleted things look like in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from toolevals.workspace.api.serializers import UserSerializer
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project
from toolevals.workspace.services.trash import jobs_destroying
from toolevals.workspace.trash.kinds import kind_of


class TakenSerializer(serializers.Serializer[Any]):
    """The number of rows that go with a deleted object."""

    count = serializers.IntegerField()
    words = serializers.CharField()


class DestroySerializer(serializers.Serializer[Any]):
    """That it is meant: the name of what is to be destroyed."""

    name = serializers.CharField(max_length=200, help_text="Its short name; of a run its number.")


class TrashedSerializer(serializers.Serializer[Any]):
    """A deleted thing; of one that was just restored the dates are null."""

    id = serializers.UUIDField(source="pk")
    kind = serializers.SerializerMethodField(help_text="dataset, run, registry or project")
    name = serializers.SerializerMethodField(help_text="The short name; of a run its number.")
    title = serializers.SerializerMethodField()
    deleted_at = serializers.DateTimeField(allow_null=True)
    deleted_by = UserSerializer(allow_null=True)
    destroy_at = serializers.DateTimeField(allow_null=True, help_text="When it is destroyed for good.")
    job = serializers.SerializerMethodField(
        help_text="The job that destroys it; null before, and of a project, whose jobs cannot be asked for any more."
    )
    takes = serializers.SerializerMethodField(help_text="What goes with it, counted when it was deleted.")
    rests = serializers.SerializerMethodField(help_text="Sentences on what rests on it and stays.")

    @extend_schema_field(serializers.CharField())
    def get_kind(self, row: Any) -> str:
        return kind_of(row).name

    @extend_schema_field(serializers.CharField())
    def get_name(self, row: Any) -> str:
        return kind_of(row).key(row)

    @extend_schema_field(serializers.CharField())
    def get_title(self, row: Any) -> str:
        return kind_of(row).title(row)

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_job(self, row: Any) -> Any:
        if isinstance(row, Project) or row.destroy_at is None or row.destroy_at > database_now():
            return None
        job = jobs_destroying([row]).get(row.pk)
        return None if job is None else job.pk

    @extend_schema_field(TakenSerializer(many=True))
    def get_takes(self, row: Any) -> Any:
        return (row.deletion or {}).get("takes", [])

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_rests(self, row: Any) -> Any:
        return (row.deletion or {}).get("rests", [])


class TrashPageSerializer(serializers.Serializer[Any]):
    """Some deleted things, and the address of those deleted before them; null at the end."""

    next = serializers.URLField(allow_null=True)
    results = TrashedSerializer(many=True)
