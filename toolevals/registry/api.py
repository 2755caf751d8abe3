"""Serves registries and their tools in the REST interface."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.json_schema.conformance import unchecked_formats, why_unused
from toolevals.grading.reading.specs import FORMATS, Choice, document_in
from toolevals.registry import services
from toolevals.registry.forms import MAX_BYTES
from toolevals.registry.guard_checks import api as guard_checks
from toolevals.registry.large_documents import (
    LARGE,
    MAX_UNPACKED,
    PREVIEW_KIND,
    large_preview,
    large_preview_start,
    large_publish_start,
)
from toolevals.registry.mcp_servers import registry_fetch_begin
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.previews import preview_of
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.parsers import StrictJsonParser
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.models import Job, JobState
from toolevals.workspace.trash.api import TrashedSerializer, deleted_answer


class RegistrySerializer(serializers.ModelSerializer[Registry]):
    """A registry and its newest version; null where nothing is published yet."""

    newest_id = serializers.UUIDField(allow_null=True, read_only=True)
    newest_number = serializers.IntegerField(allow_null=True, read_only=True)
    newest_size = serializers.IntegerField(allow_null=True, read_only=True)
    newest_at = serializers.DateTimeField(allow_null=True, read_only=True)

    class Meta:
        model = Registry
        fields = ("id", "slug", "name", "created_at", "newest_id", "newest_number", "newest_size", "newest_at")


class NewRegistrySerializer(PlainSerializer):
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


class ToolChoiceSerializer(PlainSerializer):
    """The choice of a document's tools: those that meet each of the given conditions."""

    tools = serializers.ListField(child=serializers.CharField(), required=False, help_text="Names.")
    tags = serializers.ListField(child=serializers.CharField(), required=False, help_text="Of an OpenAPI document.")
    paths = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Beginnings of paths: /pets takes /pets/{id} too."
    )
    search = serializers.CharField(
        required=False, allow_blank=True, help_text="Words in the name, path, tags or description."
    )


class NewVersionSerializer(PlainSerializer):
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


class ToolPreviewSerializer(PlainSerializer):
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


class LossCountSerializer(PlainSerializer):
    """A kind of part that is not carried over, how often it comes, and where first."""

    key = serializers.CharField()
    message = serializers.CharField()
    count = serializers.IntegerField()
    first = serializers.CharField(help_text="A JSON pointer into the document.")


class PreviewSerializer(PlainSerializer):
    """The content that publishing a document would read: nothing is stored."""

    format = serializers.CharField()
    because = serializers.CharField(help_text="The reason why it is this format; empty where the request named it.")
    tools = ToolPreviewSerializer(many=True)
    losses = LossCountSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())


class McpServerSerializer(PlainSerializer):
    """An MCP server whose tools are published: behind a `url`, or by a `command` that the operator allows."""

    url = serializers.CharField(max_length=500, required=False, help_text="Of streamable HTTP.")
    command = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="A program and its arguments."
    )
    secret = serializers.CharField(required=False, help_text="The project's secret that is sent as a bearer token.")
    timeout = serializers.FloatField(required=False, help_text="Seconds of each answer; 30 unless said.")
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


NEW_VERSION = {"application/json": NewVersionSerializer, "multipart/form-data": NewVersionSerializer}


class Registries(ProjectView, ListAPIView[Registry]):
    """The project's registries; by POST, a new one."""

    serializer_class = RegistrySerializer
    queryset = Registry.objects.none()

    def get_queryset(self) -> QuerySet[Registry]:
        return Registry.objects.filter(project=self.project).with_newest()

    @extend_schema(request=NewRegistrySerializer, responses={201: RegistrySerializer})
    def post(self, request: Request) -> Response:
        asked = NewRegistrySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = services.registry_create(project=self.project, actor=self.user, **asked.validated_data)
        return Response(RegistrySerializer(Registry.objects.with_newest().get(pk=made.pk)).data, status=201)


class RegistryDetail(ProjectView):
    """One registry; by DELETE, by owners, to the trash."""

    @extend_schema(responses=RegistrySerializer)
    def get(self, request: Request, registry: str) -> Response:
        found = get_object_or_404(Registry.objects.filter(project=self.project).with_newest(), slug=registry)
        return Response(RegistrySerializer(found).data)

    @extend_schema(responses={200: TrashedSerializer})
    @idempotent
    def delete(self, request: Request, registry: str) -> Response:
        return deleted_answer(get_object_or_404(Registry, project=self.project, slug=registry), self.user)


class Versions(ProjectView, ListAPIView[RegistryVersion]):
    """A registry's versions, newest first; by POST, the next one. Equal content makes none: the newest is answered.

    A document of more than 200 kB is published by a job, which is answered with 202; its report names the version.
    """

    serializer_class = VersionSerializer
    queryset = RegistryVersion.objects.none()
    parser_classes = (StrictJsonParser, MultiPartParser)

    def get_queryset(self) -> QuerySet[RegistryVersion]:
        return RegistryVersion.objects.in_project(self.project).filter(registry=self._registry())

    @extend_schema(request=NEW_VERSION, responses={201: VersionSerializer, 202: JobSerializer})
    @idempotent
    def post(self, request: Request, registry: str) -> Response:
        found, asked = self._registry(), NewVersionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        if "content" in asked.validated_data:
            return _job_answer(large_publish_start(registry=found, actor=self.user, **asked.validated_data))
        version = services.registry_publish(registry=found, actor=self.user, **asked.validated_data)
        return Response(VersionSerializer(version).data, status=201)

    def _registry(self) -> Registry:
        return get_object_or_404(Registry, project=self.project, slug=self.kwargs["registry"])


class VersionPreview(ProjectView):
    """Preview the publishing of a document, by POST: its format, tools and losses. Nothing is published.

    A document of more than 200 kB is read by a job, which is answered with 202; what it has read is kept for a day.
    """

    parser_classes = (StrictJsonParser, MultiPartParser)

    @extend_schema(request=NEW_VERSION, responses={200: PreviewSerializer, 202: JobSerializer})
    @idempotent
    def post(self, request: Request, registry: str) -> Response:
        found = get_object_or_404(Registry, project=self.project, slug=registry)
        asked = NewVersionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        if "content" in said:
            named = {name: said[name] for name in ("content", "name", "format", "choice")}
            return _job_answer(large_preview_start(registry=found, actor=self.user, **named))
        preview = preview_of(said["document"], format=said["format"], choice=said["choice"])
        return Response(PreviewSerializer(preview).data)


class LargePreview(ProjectView):
    """Return what a job has read of a large document: 200 once it is there, until then the job with 202.

    404 where the job failed or was cancelled, and once what it has read is no longer kept.
    """

    @extend_schema(responses={200: PreviewSerializer, 202: JobSerializer})
    def get(self, request: Request, registry: str, job: UUID) -> Response:
        found = get_object_or_404(Registry, project=self.project, slug=registry)
        asked = get_object_or_404(Job.objects.of_project(self.project), kind=PREVIEW_KIND, pk=job)
        if asked.batches.get().payload["registry"] != str(found.pk):
            raise NotFound
        if asked.state in (JobState.FAILED, JobState.CANCELLED):
            ended = f"failed: {asked.reason}" if asked.reason else "was cancelled and has read nothing."
            raise NotFound(f"The job {ended}")
        if asked.state != JobState.SUCCEEDED:
            return _job_answer(asked)
        if (preview := large_preview(asked)) is None:
            raise NotFound("The preview has expired. Send the document again.")
        return Response(PreviewSerializer(preview).data)


class McpVersions(ProjectView):
    """Publish what an MCP server lists: by POST, a job that asks it.

    The job's report names the version; equal content makes none, and the newest is named.
    """

    @extend_schema(request=McpServerSerializer, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request, registry: str) -> Response:
        found = get_object_or_404(Registry, project=self.project, slug=registry)
        asked = McpServerSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        options = dict(asked.validated_data)
        note = options.pop("note")
        job = registry_fetch_begin(registry=found, actor=self.user, options=options, note=note)
        return _job_answer(job)


class VersionDetail(ProjectView):
    """One version, with its tools."""

    @extend_schema(responses=VersionDetailSerializer)
    def get(self, request: Request, registry: str, number: int) -> Response:
        versions = RegistryVersion.objects.in_project(self.project)
        found = get_object_or_404(versions, registry__slug=registry, number=number)
        return Response(VersionDetailSerializer(found).data)


def _job_answer(job: Job) -> Response:
    return Response(JobSerializer(Job.objects.with_progress().get(pk=job.pk)).data, status=202)


app_name = "registry-api"
urlpatterns = [
    path("registries/", Registries.as_view(), name="registries"),
    path("registries/<slug:registry>/", RegistryDetail.as_view(), name="registry"),
    path("registries/<slug:registry>/versions/", Versions.as_view(), name="versions"),
    path("registries/<slug:registry>/versions/preview/", VersionPreview.as_view(), name="preview"),
    path("registries/<slug:registry>/versions/preview/<uuid:job>/", LargePreview.as_view(), name="large-preview"),
    path("registries/<slug:registry>/versions/mcp/", McpVersions.as_view(), name="mcp"),
    path("registries/<slug:registry>/versions/<int:number>/", VersionDetail.as_view(), name="version"),
    *guard_checks.urlpatterns,
]
