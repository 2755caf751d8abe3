"""Serves traces in the REST interface: the list, one trace, and the figures that pages show of them."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.values.problems import Problem
from toolevals.traces.api.serializers import (
    CostFiguresSerializer,
    RuleDaySerializer,
    ToolChangeSerializer,
    ToolFiguresSerializer,
    TraceDetailSerializer,
    TraceSerializer,
)
from toolevals.traces.blindness import CLOSED
from toolevals.traces.chunks import read_chunks
from toolevals.traces.filters import NAMES, SAID_ONCE, VERDICTS, TraceFilter
from toolevals.traces.intake.models import shown
from toolevals.traces.judges.rules import open_questions
from toolevals.traces.models import Trace
from toolevals.traces.page import judged_of
from toolevals.traces.production.rule_trends import rule_trends, trend_filter
from toolevals.traces.production.tool_figures import SPLITS, tool_figures
from toolevals.traces.production.tool_table import tool_filter, tool_table
from toolevals.traces.production.trace_costs import SPLITS as COST_SPLITS
from toolevals.traces.production.trace_costs import cost_figures
from toolevals.traces.production.verdict_export import verdict_lines
from toolevals.traces.promotion.examples_of_trace import examples_of_trace
from toolevals.traces.reading.calls import used_tools
from toolevals.traces.reading.traces import trace_read
from toolevals.traces.registered import registered_tools
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.problems import Problems

_SAID = {
    "q": "Beginnings of words in names, errors, and the first 2,000 characters of request and answer.",
    "error": "A class of errors of one call, or `any`.",
    "arguments": "`bad`: a call's arguments do not fit the schema that was offered.",
    "min_call_ms": "Milliseconds that one call took at least.",
    "rule": "An online rule that said something of a span, or `judge:` and a rubric; `verdict` tells what it said.",
    "judge": "The id of a judge; `verdict` tells what it said.",
    "verdict": "What a rule or a judge said. `not_judged` and `waiting` are those to which a judge gave no answer.",
    "asked": "A day on which the judge, or any, was asked about the trace.",
    "without": "What the traces do not say.",
    "since": "A time or a day on or after which the trace came.",
    "until": "A time before which it came, or the last day.",
}
_ENUMS = {"verdict": [*VERDICTS], "without": [*SAID_ONCE]}
FILTERS = [
    *(OpenApiParameter(name, str, description=_SAID.get(name, ""), enum=_ENUMS.get(name)) for name in NAMES),
    OpenApiParameter("broke", str, description="The older name of `rule` with the verdict `failed`.", deprecated=True),
]


def _required(parameters: Mapping[str, Any]) -> TraceFilter:
    """Return the filter of an address. Raises `Problems` where a value of it is wrong."""
    return _checked(TraceFilter.of(parameters))


def _checked(trace_filter: TraceFilter) -> TraceFilter:
    if trace_filter.problems:
        problems = [Problem(f"/{name}", words) for name, words in trace_filter.problems.items()]
        raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "The filter is not valid.", problems)
    return trace_filter


@extend_schema_view(get=extend_schema(parameters=FILTERS))
class Traces(ProjectView, ListAPIView[Trace]):
    """The project's traces, the newest first, by the filters of the page."""

    serializer_class = TraceSerializer
    queryset = Trace.objects.none()

    def get_queryset(self) -> Any:
        return _required(self.request.query_params).traces(self.project, self.role)

    def paginate_queryset(self, queryset: Any) -> Any:
        found = super().paginate_queryset(queryset)
        return found if found is None else shown(found)


class Tools(ProjectView):
    """The figures of tools in production, the most called first; of all days unless `since` or `until` is said."""

    @extend_schema(
        parameters=[
            *(each for each in FILTERS if each.name in ("since", "until", "tool", "agent", "version")),
            OpenApiParameter("by", str, enum=list(SPLITS), description="What the table is split by."),
        ],
        responses=ToolFiguresSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        trace_filter, split = _required(request.query_params), request.query_params.get("by", "")
        figures = tool_figures(self.project, trace_filter, split if split in SPLITS else "")
        return Response(ToolFiguresSerializer(figures, many=True).data)


class Costs(ProjectView):
    """List what traces took; of 14 days unless `since` is said, of 92 at most, by version unless `by` is said."""

    @extend_schema(
        parameters=[
            *(each for each in FILTERS if each.name in ("since", "until", "agent", "version")),
            OpenApiParameter("by", str, description=f"What the table is split by: {', '.join(COST_SPLITS)}."),
        ],
        responses=CostFiguresSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        trace_filter, split = _checked(trend_filter(request.query_params)), request.query_params.get("by", "version")
        return Response(CostFiguresSerializer(cost_figures(self.project, trace_filter, split), many=True).data)


class ToolChanges(ProjectView):
    """Rates of tools that surely changed, as the page marks them; in 7 days unless `since` is said.

    Split by `version`, each is compared with the one before; not split, the days against as many before. Split
    otherwise, nothing is marked.
    """

    @extend_schema(
        parameters=[
            *(each for each in FILTERS if each.name in ("since", "until", "tool", "agent", "version")),
            OpenApiParameter("by", str, enum=list(SPLITS), description="What the table is split by."),
        ],
        responses=ToolChangeSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        trace_filter, split = tool_filter(request.query_params.dict())
        marks = tool_table(self.project, _checked(trace_filter), split).marks
        return Response(ToolChangeSerializer(marks, many=True).data)


class Rules(ProjectView):
    """List what each online rule said on each day; of 14 days unless `since` is said, of 92 at most."""

    @extend_schema(
        parameters=[each for each in FILTERS if each.name in ("since", "until", "agent", "version")],
        responses=RuleDaySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        trends = rule_trends(self.project, _checked(trend_filter(request.query_params)))
        return Response(RuleDaySerializer([day for trend in trends for day in trend.days], many=True).data)


class Verdicts(ProjectView):
    """Verdicts of online rules as `gen_ai.evaluation.result` events: OTLP JSON, one line for each trace."""

    @extend_schema(parameters=FILTERS, responses={(200, "application/jsonl"): OpenApiTypes.BINARY})
    def get(self, request: Request) -> StreamingHttpResponse:
        lines = verdict_lines(self.project, self.role, _required(request.query_params))
        return StreamingHttpResponse(lines, content_type="application/jsonl")


class TraceDetail(ProjectView):
    """One trace, read again from what its sender sent."""

    @extend_schema(responses=TraceDetailSerializer)
    def get(self, request: Request, trace: UUID) -> Response:
        found = get_object_or_404(Trace.objects.in_project(self.project).with_closed(self.project, self.role), pk=trace)
        if vars(found)["is_closed"]:
            raise PermissionDenied(CLOSED)
        chunks = read_chunks(found)
        reading = trace_read(chunks.spans)
        document = {
            "trace": found,
            "reading": reading,
            "used": used_tools(reading, registered_tools(self.project)),
            "examples": examples_of_trace(found, self.user, self.role),
            "lone_records": chunks.lone,
            "judged": judged_of(found),
            "not_judged": open_questions(found, reading),
            "damage": [
                {"span_id": span_id, "pointer": each.pointer, "message": each.message}
                for span_id, each in reading.damage
            ],
        }
        return Response(TraceDetailSerializer(document).data)
