"""Serves tokens in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers import RoleField, UserSerializer
from toolevals.workspace.middleware import shows_secret
from toolevals.workspace.models import (
    ApiToken,
    TokenScope,
)
from toolevals.workspace.tokens.services import TokenTooWideError, token_create, token_revoke


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token, without its secret."""

    user = UserSerializer()
    role = RoleField()

    class Meta:
        model = ApiToken
        fields = (
            "id",
            "name",
            "user",
            "role",
            "scope",
            "prefix",
            "created_at",
            "last_used_at",
            "expires_at",
            "revoked_at",
        )


class NewTokenSerializer(PlainSerializer):
    """A token to make."""

    name = serializers.CharField(max_length=80)
    role = RoleField()
    scope = serializers.ChoiceField(
        choices=TokenScope.choices,
        default=TokenScope.PROJECT,
        help_text="`traces`: it sends traces to /v1/traces and does nothing else, in any role."
        " `guard`: it asks the guard and does nothing else.",
    )
    expires_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When it ends; null is never. Unless said, never, or when the token ends that asks for it.",
    )


class MadeTokenSerializer(PlainSerializer):
    """A new token and its secret, which is not kept and shown here only."""

    token = TokenSerializer()
    secret = serializers.CharField()


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
