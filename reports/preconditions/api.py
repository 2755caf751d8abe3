"""Serve suggested preconditions in the REST interface."""

from __future__ import annotations

from http import HTTPStatus

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.guard.api import PolicyVersionDetailSerializer, PolicyView
from reports.preconditions.queries import SOURCES, conversations_of, suggestions
from reports.preconditions.services import precondition_add
from reports.preconditions.table import PAIR_CONVERSATIONS, SUGGESTIONS
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.tables import serializer_of


class PreconditionRequestSerializer(PlainSerializer):
    """A suggestion to add."""

    tool = serializers.CharField(max_length=200)
    after = serializers.CharField(max_length=200, help_text="The tool that comes before it.")


class PreconditionsView(PolicyView):
    """List the suggestions, the surest first; by POST, make a version that has one in audit. It is not in force."""

    @extend_schema(responses=serializer_of(SUGGESTIONS)(many=True))
    def get(self, request: Request, policy: str) -> Response:
        return Response(serializer_of(SUGGESTIONS)(suggestions(self.policy(), self.role), many=True).data)

    @extend_schema(request=PreconditionRequestSerializer, responses={201: PolicyVersionDetailSerializer})
    @idempotent
    def post(self, request: Request, policy: str) -> Response:
        found, asked = self.policy(), PreconditionRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = precondition_add(policy=found, actor=self.user, role=self.role, **asked.validated_data)
        return Response(PolicyVersionDetailSerializer(made).data, HTTPStatus.CREATED)


class PreconditionConversationsView(PolicyView):
    """List the conversations in which a tool was called, the newest first, and whether the other came before it."""

    @extend_schema(
        parameters=[
            OpenApiParameter("tool", str, required=True),
            OpenApiParameter("after", str, required=True, description="The tool that comes before it."),
            OpenApiParameter("of", str, enum=list(SOURCES), description="Gold, or traces (the default)."),
        ],
        responses=serializer_of(PAIR_CONVERSATIONS)(many=True),
    )
    def get(self, request: Request, policy: str) -> Response:
        asked = request.query_params
        source = SOURCES[0] if asked.get("of") == SOURCES[0] else SOURCES[1]
        rows = conversations_of(self.policy(), self.role, source, asked.get("tool", ""), asked.get("after", ""))
        return Response(serializer_of(PAIR_CONVERSATIONS)(rows, many=True).data)
