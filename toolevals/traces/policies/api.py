"""Serves the policies that traces are checked by in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.registry.models import Policy
from toolevals.traces.lists import POLICIES_OF_TRACES
from toolevals.traces.policies.queries import checked_policies
from toolevals.traces.policies.services import MOST_DAYS, trace_policy_set
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.tables import serializer_of


class TracePolicyRequestSerializer(PlainSerializer):
    """Says by which policy, by its short name, how many traces are checked."""

    policy = serializers.SlugRelatedField(slug_field="slug", queryset=Policy.objects.none())
    share = serializers.FloatField(min_value=0, max_value=1, help_text="Of the traces, 0 to 1; 0 checks none.")
    days = serializers.IntegerField(
        min_value=0, max_value=MOST_DAYS, default=0, help_text="Also check the traces of this many past days."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if project := self.context.get("project"):
            self.fields["policy"].queryset = Policy.objects.in_project(project)  # type: ignore[attr-defined]


class TracePolicies(ProjectView):
    """Policies that traces are checked by; by POST, check by one, or otherwise."""

    @extend_schema(responses=serializer_of(POLICIES_OF_TRACES)(many=True))
    def get(self, request: Request) -> Response:
        return Response(serializer_of(POLICIES_OF_TRACES)(checked_policies(self.project), many=True).data)

    @extend_schema(request=TracePolicyRequestSerializer, responses={201: serializer_of(POLICIES_OF_TRACES)})
    def post(self, request: Request) -> Response:
        asked = TracePolicyRequestSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        row, _ = trace_policy_set(project=self.project, actor=self.user, **asked.validated_data)
        found = next(each for each in checked_policies(self.project) if each.policy == row.policy.slug)
        return Response(serializer_of(POLICIES_OF_TRACES)(found).data, status=HTTPStatus.CREATED)
