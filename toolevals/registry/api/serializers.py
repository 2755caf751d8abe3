"""What registries and their tools look like in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from toolevals.grading.specs import FORMATS
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.tool_lists import tools_in


class RegistrySerializer(serializers.ModelSerializer[Registry]):
    """A registry and its newest version; null where nothing is published yet."""

    newest_id = serializers.UUIDField(allow_null=True, read_only=True)
    newest_number = serializers.IntegerField(allow_null=True, read_only=True)
    newest_size = serializers.IntegerField(allow_null=True, read_only=True)
    newest_at = serializers.DateTimeField(allow_null=True, read_only=True)

    class Meta:
        model = Registry
        fields = ("id", "slug", "name", "created_at", "newest_id", "newest_number", "newest_size", "newest_at")


class NewRegistrySerializer(serializers.Serializer[Any]):
    """What registry to make."""

    slug = serializers.SlugField(max_length=60)
    name = serializers.CharField(max_length=120)


class VersionSerializer(serializers.ModelSerializer[RegistryVersion]):
    """A version, without its tools."""

    name = serializers.CharField(source="__str__")
    size = serializers.IntegerField(source="tools.size")
    digest = serializers.CharField(source="tools.digest")
    losses = serializers.JSONField()

    class Meta:
        model = RegistryVersion
        fields = ("id", "name", "number", "size", "digest", "note", "losses", "created_at")


class VersionDetailSerializer(VersionSerializer):
    """A version with its tools."""

    tools = serializers.SerializerMethodField()

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "tools")  # type: ignore[assignment]

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_tools(self, version: RegistryVersion) -> list[dict[str, Any]]:
        return [spec.to_document() for spec in tools_in(version.tools)]


FORMAT_NAMES = ["auto", *FORMATS]


class NewVersionSerializer(serializers.Serializer[Any]):
    """Tools to publish, in a format that is found out or said."""

    document = serializers.JSONField()
    format = serializers.ChoiceField(choices=FORMAT_NAMES, default="auto")
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class McpServerSerializer(serializers.Serializer[Any]):
    """An MCP server whose tools are published: behind a `url`, or by a `command` that the operator allows."""

    url = serializers.CharField(max_length=500, required=False, help_text="Of streamable HTTP.")
    command = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="A program and its arguments."
    )
    secret = serializers.CharField(required=False, help_text="The project's secret that is sent as a bearer token.")
    timeout = serializers.FloatField(required=False, help_text="Seconds of each answer; 30 unless said.")
    note = serializers.CharField(max_length=300, allow_blank=True, default="")
