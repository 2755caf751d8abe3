"""Where a program begins: the index, who it is, its projects."""

from __future__ import annotations

from typing import cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.serializers import IndexSerializer, MeSerializer, ProjectSerializer
from toolevals.workspace.models import Project, Role
from toolevals.workspace.requests import SignedInRequest


class Index(APIView):
    """The addresses to begin with."""

    @extend_schema(operation_id="index", responses=IndexSerializer)
    def get(self, request: Request) -> Response:
        names = ("me", "projects", "openapi")
        return Response({"version": "1", **{name: reverse(f"workspace-api:{name}", request=request) for name in names}})


class Me(APIView):
    """Who asks."""

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        token = cast("SignedInRequest", request._request).token
        role = None
        if token is not None:
            member = token.project.memberships.filter(user=token.user).first()
            role = Role(min(token.role, member.role)) if member else None
        me = {"user": request.user, "project": token.project.slug if token else None, "role": role}
        return Response(MeSerializer(me).data)


class Projects(ListAPIView[Project]):
    """The projects of the person who asks; with a token, the token's."""

    serializer_class = ProjectSerializer
    queryset = Project.objects.none()

    def get_queryset(self) -> QuerySet[Project]:
        request = cast("SignedInRequest", self.request._request)
        mine = Project.objects.filter(memberships__user=request.user)
        return mine.filter(pk=request.token.project_id) if request.token else mine


class ProjectDetail(ProjectView):
    """One project."""

    @extend_schema(responses=ProjectSerializer)
    def get(self, request: Request) -> Response:
        return Response(ProjectSerializer(self.project).data)
