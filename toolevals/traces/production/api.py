"""Serves figures of production in the REST interface: tools, costs, online rules and their verdicts."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.traces.lists import TOOL_CHANGES, TRACE_COSTS
from toolevals.traces.production.rule_trends import rule_trends, trend_filter
from toolevals.traces.production.tool_changes import tool_filter, tool_table
from toolevals.traces.production.tool_figures import SPLITS, tool_figures
from toolevals.traces.production.trace_costs import SPLITS as COST_SPLITS
from toolevals.traces.production.trace_costs import cost_figures
from toolevals.traces.production.verdict_export import verdict_lines
from toolevals.traces.reading.api import FILTERS, checked, filter_of
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.serializers import IntervalSerializer
from toolevals.workspace.tables import serializer_of


class ToolFiguresSerializer(PlainSerializer):
    """The calls of a tool, or of a part of them."""

    tool = serializers.CharField()
    part = serializers.CharField(allow_blank=True, help_text="The version, agent or day where the table is split.")
    calls = serializers.IntegerField()
    failed = serializers.IntegerField()
    error_rate = serializers.FloatField()
    error_interval = IntervalSerializer(source="errors_known.interval", help_text="Clustered by trace.")
    traces = serializers.IntegerField(source="errors_known.examples", help_text="Traces in which it was called.")
    errors_by_class = serializers.DictField(
        source="errors", child=serializers.IntegerField(), help_text="Calls by class of error."
    )
    checked = serializers.IntegerField(help_text="Calls whose tool was offered with a schema.")
    misfits = serializers.IntegerField(help_text="Those of them whose arguments do not fit it.")
    misfit_rate = serializers.FloatField(allow_null=True)
    misfit_interval = IntervalSerializer(source="misfits_known.interval", allow_null=True)
    percentiles_ms = serializers.ListField(
        source="percentiles",
        child=serializers.FloatField(allow_null=True),
        help_text="Durations that 50, 95 and 99 % did not exceed, to within 1 %.",
    )


class RuleDaySerializer(PlainSerializer):
    """Verdicts of an online rule, or of a judge, on the traces that came on one day."""

    rule = serializers.CharField(source="rule.name")
    judge = serializers.CharField(source="rule.judge", allow_blank=True, help_text="Empty where no judge is asked.")
    judge_model = serializers.CharField(source="rule.model", allow_blank=True)
    span_kind = serializers.CharField(
        source="rule.kind", allow_blank=True, help_text="The spans that it is about; empty for the trace as a whole."
    )
    not_judged = serializers.IntegerField(help_text="Questions in a judge's share that it was not asked.")
    day = serializers.DateField()
    passed = serializers.IntegerField()
    failed = serializers.IntegerField()
    unscored = serializers.IntegerField()
    errored = serializers.IntegerField()
    traces = serializers.IntegerField(source="rate.examples", help_text="Traces with a verdict that passed or failed.")
    rate = serializers.FloatField(source="rate.value", allow_null=True)
    interval = IntervalSerializer(source="rate.interval", allow_null=True, help_text="Clustered by trace.")


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
        trace_filter, split = filter_of(request.query_params), request.query_params.get("by", "")
        figures = tool_figures(self.project, trace_filter, split if split in SPLITS else "")
        return Response(ToolFiguresSerializer(figures, many=True).data)


class Costs(ProjectView):
    """List what traces took; of 14 days unless `since` is said, of 92 at most, by version unless `by` is said."""

    @extend_schema(
        parameters=[
            *(each for each in FILTERS if each.name in ("since", "until", "agent", "version")),
            OpenApiParameter("by", str, description=f"What the table is split by: {', '.join(COST_SPLITS)}."),
        ],
        responses=serializer_of(TRACE_COSTS)(many=True),
    )
    def get(self, request: Request) -> Response:
        trace_filter, split = checked(trend_filter(request.query_params)), request.query_params.get("by", "version")
        return Response(serializer_of(TRACE_COSTS)(cost_figures(self.project, trace_filter, split), many=True).data)


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
        responses=serializer_of(TOOL_CHANGES)(many=True),
    )
    def get(self, request: Request) -> Response:
        trace_filter, split = tool_filter(request.query_params.dict())
        marks = tool_table(self.project, checked(trace_filter), split).marks
        return Response(serializer_of(TOOL_CHANGES)(marks, many=True).data)


class Rules(ProjectView):
    """List what each online rule said on each day; of 14 days unless `since` is said, of 92 at most."""

    @extend_schema(
        parameters=[each for each in FILTERS if each.name in ("since", "until", "agent", "version")],
        responses=RuleDaySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        trends = rule_trends(self.project, checked(trend_filter(request.query_params)))
        return Response(RuleDaySerializer([day for trend in trends for day in trend.days], many=True).data)


class Verdicts(ProjectView):
    """Verdicts of online rules as `gen_ai.evaluation.result` events: OTLP JSON, one line for each trace."""

    @extend_schema(parameters=FILTERS, responses={(200, "application/jsonl"): OpenApiTypes.BINARY})
    def get(self, request: Request) -> StreamingHttpResponse:
        lines = verdict_lines(self.project, self.role, filter_of(request.query_params))
        return StreamingHttpResponse(lines, content_type="application/jsonl")
