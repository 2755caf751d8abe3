"""Show where a program begins: the index, who it is, its projects."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.serializers import RoleField, UserSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.models import (
    ApiToken,
    Project,
    Role,
)
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.requests import SignedInRequest
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
        role = _role_of(token) if token else None
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
        if asking.token is not None and _role_of(asking.token) != Role.OWNER:
            raise PermissionDenied("A token can create projects only if it has the owner role.")
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


def _role_of(token: ApiToken) -> Role | None:
    """Return what a token may do in its project: no more than its person may; None if that is no member any more."""
    member = token.project.memberships.filter(user=token.user).first()
    return Role(min(token.role, member.role)) if member else None
