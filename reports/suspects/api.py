"""Serve suspect labels in the REST interface."""

from __future__ import annotations

from dataclasses import replace

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reports.run.baseline_agents import version_asked
from reports.suspects.analysis import REASONS
from reports.suspects.queries import STATES, SuspectFilter, page_of
from reports.suspects.services import suspects_counted
from reports.suspects.table import PAGE
from toolevals.traces.models import TraceExample
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.tables import serializer_of


class SuspectsView(ProjectView):
    """The examples of a version whose gold the evidence contradicts, the most suspicious first."""

    @extend_schema(
        parameters=[
            OpenApiParameter("reason", str, enum=list(REASONS)),
            OpenApiParameter("state", str, enum=list(STATES)),
            OpenApiParameter("q", str, description="A part of the external id."),
            OpenApiParameter("page", int, description="From 1; of 25."),
        ],
        responses=serializer_of(PAGE),
    )
    def get(self, request: Request, dataset: str, version: str) -> Response:
        version_row = version_asked(self.access, dataset, version)
        kept = suspects_counted(version_row, actor=self.user)
        page = page_of(version_row, SuspectFilter.of_address(request.query_params.dict()), self.user, self.role)
        examples = [row.example_id for row in page.rows]
        traces = TraceExample.objects.open_traces(self.project, examples, self.role)
        document = {
            "counted_at": kept.counted_at,
            "job": kept.job_id if kept.job is not None and kept.job.stands else None,
            "voices": kept.voices,
            "count": page.count,
            "pages": page.pages,
            "results": [replace(row, trace=traces.get(row.example_id)) for row in page.rows],
        }
        return Response(serializer_of(PAGE)(document).data)
