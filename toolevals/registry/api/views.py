"""Serves registries and their versions in the REST interface."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.registry import services
from toolevals.registry.api.serializers import (
    McpServerSerializer,
    NewRegistrySerializer,
    NewVersionSerializer,
    PreviewSerializer,
    RegistrySerializer,
    VersionDetailSerializer,
    VersionSerializer,
)
from toolevals.registry.fetching import registry_fetch_begin
from toolevals.registry.large_previews import KIND, large_preview, large_preview_start
from toolevals.registry.large_publishing import large_publish_start
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.previews import preview_of
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.parsers import StrictJsonParser
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.models import Job, JobState
from toolevals.workspace.trash.api import TrashedSerializer, deleted_answer

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
        asked = get_object_or_404(Job.objects.of_project(self.project), kind=KIND, pk=job)
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
