"""Traces in the REST interface: the list, and one."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.problems import Problem
from toolevals.traces.api.serializers import TraceDetailSerializer, TraceSerializer
from toolevals.traces.chunks import spans_of
from toolevals.traces.filters import NAMES, TraceFilter
from toolevals.traces.models import Trace
from toolevals.traces.reading.calls import used_tools
from toolevals.traces.reading.traces import trace_read
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.problems import Problems

_SAID = {
    "q": "Beginnings of words in names, errors, and the first 2,000 characters of request and answer.",
    "error": "A class of errors of one call, or `any`.",
    "arguments": "`bad`: a call's arguments do not fit the schema that was offered.",
    "broke": "An online rule that failed a span.",
    "since": "A time or a day on or after which the trace came.",
    "until": "A time before which it came, or the last day.",
}
FILTERS = [OpenApiParameter(name, str, description=_SAID.get(name, "")) for name in NAMES]


@extend_schema_view(get=extend_schema(parameters=FILTERS))
class Traces(ProjectView, ListAPIView[Trace]):
    """The project's traces, the newest first, by the filters of the page."""

    serializer_class = TraceSerializer
    queryset = Trace.objects.none()

    def get_queryset(self) -> Any:
        wanted = TraceFilter.of(self.request.query_params)
        if wanted.problems:
            problems = [Problem(f"/{name}", words) for name, words in wanted.problems.items()]
            raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "The filter is not valid.", problems)
        return wanted.traces(self.project)


class TraceDetail(ProjectView):
    """One trace, read anew from what its sender sent."""

    @extend_schema(responses=TraceDetailSerializer)
    def get(self, request: Request, trace: UUID) -> Response:
        found = get_object_or_404(Trace, project=self.project, pk=trace)
        reading = trace_read(spans_of(found))
        document = {"trace": found, "reading": reading, "used": used_tools(reading)}
        return Response(TraceDetailSerializer(document).data)
