"""Show where a program begins: the index, who it is, its projects."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast
from uuid import UUID

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers import RoleField, UserSerializer
from toolevals.workspace.file_responses import stored_response
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.jobs.files import job_file
from toolevals.workspace.models import (
    Job,
    Project,
)
from toolevals.workspace.projects.export import KIND, StillBlindError, project_export_start
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.requests import SignedInRequest
from toolevals.workspace.tokens.services import token_role
from toolevals.workspace.trash.api import TrashedSerializer, deleted_answer


class ProjectSerializer(serializers.ModelSerializer[Project]):
    """A project."""

    class Meta:
        model = Project
        fields = ("id", "slug", "name", "labels_wanted", "undo_seconds", "created_at")


class NewProjectSerializer(PlainSerializer):
    """A project to make."""

    slug = serializers.SlugField(max_length=60, help_text="For addresses: letters, digits and hyphens.")
    name = serializers.CharField(max_length=120)


class MeSerializer(PlainSerializer):
    """The person who asks; with a token, the project and the token's purpose."""

    user = UserSerializer()
    project = serializers.SlugField(allow_null=True)
    role = RoleField(allow_null=True)


class IndexSerializer(PlainSerializer):
    """The first addresses of the interface."""

    version = serializers.CharField()
    me = serializers.URLField()
    projects = serializers.URLField()
    openapi = serializers.URLField()


class Index(APIView):
    """The addresses to begin with."""

    @extend_schema(operation_id="index", responses=IndexSerializer)
    def get(self, request: Request) -> Response:
        names = ("me", "projects", "openapi")
        return Response({"version": "1", **{name: reverse(f"workspace-api:{name}", request=request) for name in names}})


class Me(APIView):
    """The person who asks."""

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        token = cast("SignedInRequest", request).token
        role = token_role(token) if token else None
        me = {"user": request.user, "project": token.project.slug if token else None, "role": role}
        return Response(MeSerializer(me).data)


class Projects(ListAPIView[Project]):
    """The projects of the person who asks; with a token, the token's. By POST, one more, which the person then owns.

    A token makes projects only as an owner of its own, and does not open what it made.
    """

    serializer_class = ProjectSerializer
    queryset = Project.objects.none()

    def get_queryset(self) -> QuerySet[Project]:
        request = cast("SignedInRequest", self.request)
        mine = Project.objects.filter(memberships__user=request.user)
        return mine.filter(pk=request.token.project_id) if request.token else mine

    @extend_schema(request=NewProjectSerializer, responses={201: ProjectSerializer})
    def post(self, request: Request) -> Response:
        asking = cast("SignedInRequest", request)
        asked = NewProjectSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = project_create(actor=asking.user, **asked.validated_data)
        return Response(ProjectSerializer(made).data, status=HTTPStatus.CREATED)


class ProjectDetail(ProjectView):
    """One project; by DELETE, by owners, to the trash. Sent again, it is not found any more."""

    @extend_schema(responses=ProjectSerializer)
    def get(self, request: Request) -> Response:
        return Response(ProjectSerializer(self.project).data)

    @extend_schema(responses={200: TrashedSerializer})
    @idempotent
    def delete(self, request: Request) -> Response:
        return deleted_answer(self.project, self.user)


class ProjectExports(ProjectView):
    """Write the whole project to a ZIP, by POST, as a job; 409 while something of it is blind."""

    @extend_schema(request=None, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        try:
            job = project_export_start(project=self.project, actor=self.user)
        except StillBlindError as error:
            raise Problems(HTTPStatus.CONFLICT, str(error)) from error
        shown = Job.objects.with_progress().get(pk=job.pk)
        return Response(JobSerializer(shown).data, status=HTTPStatus.ACCEPTED)


class ProjectExportFile(ProjectView):
    """The ZIP that a job has written; 410 when it is no longer kept."""

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY, 410: None})
    def get(self, request: Request, whole: UUID) -> StreamingHttpResponse:
        upload = job_file(get_object_or_404(Job.objects.of_project(self.project), kind=KIND, pk=whole))
        if upload is None:
            raise Problems(HTTPStatus.GONE, "The file is not ready yet or has expired.")
        return stored_response(upload)
