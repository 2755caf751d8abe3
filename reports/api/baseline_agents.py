"""Serve baseline agents in the REST interface."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.run.baseline_agents import version_asked, version_baseline_agents
from reports.run.table import VERDICTS
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.tables import serializer_of


class BaselineAgentSerializer(serializers.Serializer[Any]):
    """Holds what one baseline agent scores; `layers` is null until its run is graded."""

    kind = serializers.CharField()
    name = serializers.CharField()
    run = serializers.IntegerField()
    layers = serializer_of(VERDICTS)(source="layers.rows", many=True, allow_null=True, default=None)


class BaselineAgentsSerializer(serializers.Serializer[Any]):
    """The baseline agents of a dataset version."""

    baseline_agents = BaselineAgentSerializer(many=True)


class BaselineAgentsView(ProjectView):
    """Show what baseline agents score on a dataset version."""

    @extend_schema(responses=BaselineAgentsSerializer)
    def get(self, request: Request, dataset: str, version: str) -> Response:
        version_row = version_asked(self.access, dataset, version)
        return Response(BaselineAgentsSerializer({"baseline_agents": version_baseline_agents(version_row)}).data)
