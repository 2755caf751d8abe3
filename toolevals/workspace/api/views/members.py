"""Serves members, and their tokens, in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers import (
    MadeTokenSerializer,
    MemberRoleSerializer,
    MemberSerializer,
    NewTokenSerializer,
    TokenSerializer,
)
from toolevals.workspace.compression import shows_secret
from toolevals.workspace.models import ApiToken, Membership
from toolevals.workspace.services.projects import LastOwnerError, member_remove, member_set
from toolevals.workspace.services.tokens import TokenTooWideError, token_create, token_revoke


class Members(ProjectView, ListAPIView[Membership]):
    """The members of the project. People become one by an invitation."""

    serializer_class = MemberSerializer
    queryset = Membership.objects.none()

    def get_queryset(self) -> QuerySet[Membership]:
        return self.project.memberships.select_related("user")


class Member(ProjectView):
    """One member: read, another role, an end."""

    def _member(self, pk: UUID) -> Membership:
        return get_object_or_404(self.project.memberships.select_related("user", "project"), pk=pk)

    @extend_schema(responses=MemberSerializer)
    def get(self, request: Request, member: UUID) -> Response:
        return Response(MemberSerializer(self._member(member)).data)

    @extend_schema(request=MemberRoleSerializer, responses=MemberSerializer)
    def put(self, request: Request, member: UUID) -> Response:
        asked = MemberRoleSerializer(data=request.data)
        found = self._member(member)
        asked.is_valid(raise_exception=True)
        if asked.validated_data["role"] > self.role:
            raise PermissionDenied(f"You give the role {self.role.label} at most: it is yours.")
        try:
            changed = member_set(project=self.project, actor=self.user, user=found.user, **asked.validated_data)
        except LastOwnerError as error:
            raise Problems(HTTPStatus.CONFLICT, str(error)) from error
        return Response(MemberSerializer(changed).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, member: UUID) -> Response:
        try:
            member_remove(membership=self._member(member), actor=self.user)
        except LastOwnerError as error:
            raise Problems(HTTPStatus.CONFLICT, str(error)) from error
        return Response(status=204)


class Tokens(ProjectView, ListAPIView[ApiToken]):
    """The project's tokens; by POST, one more, which stands for the person who asks.

    By a token, one that may no more than that one, and ends no later.
    """

    serializer_class = TokenSerializer
    queryset = ApiToken.objects.none()

    def get_queryset(self) -> QuerySet[ApiToken]:
        return self.project.tokens.select_related("user")

    @extend_schema(request=NewTokenSerializer, responses={201: MadeTokenSerializer})
    def post(self, request: Request) -> Response:
        asked = NewTokenSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        maker = self.access.token
        wanted = {"expires_at": maker.expires_at if maker else None, **asked.validated_data}
        try:
            token, secret = token_create(project=self.project, actor=self.user, user=self.user, maker=maker, **wanted)
        except TokenTooWideError as error:
            raise Problems(HTTPStatus.FORBIDDEN, str(error)) from error
        return shows_secret(Response(MadeTokenSerializer({"token": token, "secret": secret}).data, status=201))


class Token(ProjectView):
    """One token: read, an end."""

    def _token(self, pk: UUID) -> ApiToken:
        return get_object_or_404(self.project.tokens.select_related("user", "project"), pk=pk)

    @extend_schema(responses=TokenSerializer)
    def get(self, request: Request, token: UUID) -> Response:
        return Response(TokenSerializer(self._token(token)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, token: UUID) -> Response:
        token_revoke(token=self._token(token), actor=self.user)
        return Response(status=204)
