"""Floors in the REST interface."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.api.serializers import VerdictRowSerializer
from reports.queries.floors import version_asked, version_floors
from toolevals.workspace.api.base import ProjectView


class FloorSerializer(serializers.Serializer[Any]):
    """Holds what one baseline agent scores; `layers` is null until its run is graded."""

    kind = serializers.CharField()
    name = serializers.CharField()
    run = serializers.IntegerField()
    layers = VerdictRowSerializer(source="layers.rows", many=True, allow_null=True, default=None)


class FloorsSerializer(serializers.Serializer[Any]):
    """The floors of a dataset version."""

    baseline_agents = FloorSerializer(many=True)


class FloorsView(ProjectView):
    """Show what baseline agents score on a dataset version."""

    @extend_schema(responses=FloorsSerializer)
    def get(self, request: Request, dataset: str, version: str) -> Response:
        found = version_asked(self.access, dataset, version)
        return Response(FloorsSerializer({"baseline_agents": version_floors(found)}).data)
