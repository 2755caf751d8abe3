"""Show what registries and their tools look like in JSON."""

from __future__ import annotations

import json
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from toolevals.grading.json_schema.conformance import unchecked_formats, why_unused
from toolevals.grading.reading.specs import FORMATS, Choice, document_in
from toolevals.registry.forms import MAX_BYTES
from toolevals.registry.large_previews import LARGE, MAX_UNPACKED
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
    """A registry to make."""

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
    unused_schemas = serializers.SerializerMethodField()
    unchecked_formats = serializers.SerializerMethodField()

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "tools", "unused_schemas", "unchecked_formats")  # type: ignore[assignment]

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_tools(self, version: RegistryVersion) -> list[dict[str, Any]]:
        return [spec.to_document() for spec in tools_in(version.tools)]

    def get_unused_schemas(self, version: RegistryVersion) -> list[str]:
        """Return the sentences that say of which tools the schema is not used, and why."""
        return list(filter(None, map(why_unused, tools_in(version.tools))))

    def get_unchecked_formats(self, version: RegistryVersion) -> list[str]:
        """Return the sentences that name the formats that are asserted and that nothing checks, a tool each."""
        return list(filter(None, map(unchecked_formats, tools_in(version.tools))))


FORMAT_NAMES = ["auto", *FORMATS]


class ToolChoiceSerializer(serializers.Serializer[Any]):
    """The choice of a document's tools: those that meet each of the given conditions."""

    tools = serializers.ListField(child=serializers.CharField(), required=False, help_text="Names.")
    tags = serializers.ListField(child=serializers.CharField(), required=False, help_text="Of an OpenAPI document.")
    paths = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Beginnings of paths: /pets takes /pets/{id} too."
    )
    search = serializers.CharField(
        required=False, allow_blank=True, help_text="Words in the name, path, tags or description."
    )


class NewVersionSerializer(serializers.Serializer[Any]):
    """Tools to publish, as JSON or as a file, in a format that is found out or said."""

    document = serializers.JSONField(required=False)
    file = serializers.FileField(required=False, help_text="In a form: JSON, YAML or a zip, in place of the document.")
    format = serializers.ChoiceField(choices=FORMAT_NAMES, default="auto")
    note = serializers.CharField(max_length=300, allow_blank=True, default="")
    choice = ToolChoiceSerializer(required=False)
    assert_formats = serializers.BooleanField(
        allow_null=True,
        default=None,
        help_text="Whether a text that is not in the format of its schema breaks the schema."
        " Null: as in the newest version, and in a new registry yes.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Read what is small, and take the choice for what it is. Raises InvalidDocument.

        Of a large document `content` is what a job reads, with its `name`.
        """
        file = attrs.pop("file", None)
        if (file is None) == ("document" not in attrs):
            raise serializers.ValidationError({"document": ["Send a document, or a file in a form."]})
        if file is not None:
            if file.size > MAX_BYTES:
                words = f"Has {file.size:,} bytes; the limit is {MAX_BYTES:,}."
                raise serializers.ValidationError({"file": [words]})
            content, name = file.read(), file.name
        else:
            content, name = json.dumps(attrs["document"], ensure_ascii=False).encode(), "document.json"
        if len(content) > LARGE:
            attrs.pop("document", None)
            attrs |= {"content": content, "name": name}
        elif file is not None:
            attrs["document"] = document_in(content, max_bytes=MAX_UNPACKED)
        attrs["choice"] = Choice.from_document(attrs.pop("choice", {}))
        return attrs


class ToolPreviewSerializer(serializers.Serializer[Any]):
    """A tool that a document holds; `problem` says why it cannot be published."""

    name = serializers.CharField()
    where = serializers.CharField(help_text="A JSON pointer into the document.")
    method = serializers.CharField()
    path = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    summary = serializers.CharField()
    arguments = serializers.IntegerField()
    losses = serializers.IntegerField()
    problem = serializers.CharField()


class LossCountSerializer(serializers.Serializer[Any]):
    """A kind of part that is not carried over, how often it comes, and where first."""

    key = serializers.CharField()
    message = serializers.CharField()
    count = serializers.IntegerField()
    first = serializers.CharField(help_text="A JSON pointer into the document.")


class PreviewSerializer(serializers.Serializer[Any]):
    """The content that publishing a document would read: nothing is stored."""

    format = serializers.CharField()
    because = serializers.CharField(help_text="The reason why it is this format; empty where the request named it.")
    tools = ToolPreviewSerializer(many=True)
    losses = LossCountSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())


class McpServerSerializer(serializers.Serializer[Any]):
    """An MCP server whose tools are published: behind a `url`, or by a `command` that the operator allows."""

    url = serializers.CharField(max_length=500, required=False, help_text="Of streamable HTTP.")
    command = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="A program and its arguments."
    )
    secret = serializers.CharField(required=False, help_text="The project's secret that is sent as a bearer token.")
    timeout = serializers.FloatField(required=False, help_text="Seconds of each answer; 30 unless said.")
    note = serializers.CharField(max_length=300, allow_blank=True, default="")
