"""Show what the file of a run was read as, in the REST interface."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.analyses.readings import read_rows
from reports.api.views import GRADING, RunReportView
from reports.queries.readings import run_readings


class ReadRowSerializer(serializers.Serializer[Any]):
    """A format that was found, a kind of loss with its count, or a warning with its line."""

    kind = serializers.ChoiceField(choices=("format", "left out", "warning"))
    name = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()
    where = serializers.CharField(allow_blank=True, help_text="A JSON pointer with * for every place in a list.")
    first = serializers.CharField(allow_blank=True, help_text="The JSON pointer of the first loss.")
    line = serializers.IntegerField(allow_null=True)
    words = serializers.CharField(allow_blank=True)


class RunReadingsSerializer(serializers.Serializer[Any]):
    """The reading of an uploaded run's file; of a run that asked an agent, what was left out of its answers."""

    rows = ReadRowSerializer(many=True)


class ReadingsView(RunReportView):
    """Return what the file of a run was read as, and what was left out of it or of the agent's answers."""

    @extend_schema(parameters=[GRADING], responses=RunReadingsSerializer)
    def get(self, request: Request, number: int) -> Response:
        rows = list(read_rows(run_readings(self.grading(number).run)))
        return Response(RunReadingsSerializer({"rows": rows}).data)
