"""Serve rates over runs in the REST interface: the same points as the pages and the files."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.analyses.trend import Point
from reports.api.serializers import RateSerializer
from reports.trends.rate_selection import read_trend_request, trend_of_request
from reports.trends.scope import Scope, agent_scope, experiment_scope
from reports.trends.tools import ToolRate
from toolevals.workspace.api.base import ProjectView

ASKED = [
    OpenApiParameter(
        "of",
        str,
        enum=["tools", "parameters"],
        description="Rates by tool, or by parameter, instead of layers, depths and judges.",
    ),
    OpenApiParameter("rate", str, enum=list(ToolRate), description="Of tools; by default recall."),
]


class TrendRateSerializer(RateSerializer):
    """One rate of one run. Runs with the same `line` are joined; `broken` says why a run is not joined to the last."""

    line = serializers.IntegerField(allow_null=True)
    broken = serializers.ListField(child=serializers.CharField())
    judge = serializers.CharField(allow_blank=True)
    model = serializers.CharField(allow_blank=True)
    flag = serializers.CharField(allow_blank=True)
    tool = serializers.CharField(allow_blank=True, help_text="Of a parameter.")
    argument = serializers.CharField(allow_blank=True, help_text="The parameter.")


class TrendRunSerializer(serializers.Serializer[Any]):
    """One run, with its rates by name."""

    run = serializers.IntegerField(source="run.number")
    grading_id = serializers.UUIDField(source="run.grading", allow_null=True)
    experiment = serializers.CharField(source="run.experiment")
    created_at = serializers.DateTimeField(source="run.created_at")
    agent = serializers.CharField(source="run.agent")
    dataset = serializers.CharField(source="run.dataset")
    changed = serializers.CharField(source="run.changed", allow_blank=True)
    cost_of_case = serializers.FloatField(
        source="run.took.cost_of_case", allow_null=True, help_text="Money, by prices."
    )
    tokens_of_case = serializers.FloatField(
        source="run.took.tokens_of_case", allow_null=True, help_text="The mean of tokens in and out."
    )
    latency_p95 = serializers.FloatField(
        source="run.took.latency_p95", allow_null=True, help_text="Milliseconds of a conversation."
    )
    rates = serializers.DictField(child=TrendRateSerializer())


class TrendSerializer(serializers.Serializer[Any]):
    """Graded runs, oldest first."""

    runs = TrendRunSerializer(many=True)


class TrendsView(ProjectView):
    """The rates of an experiment's runs."""

    @extend_schema(parameters=ASKED, responses=TrendSerializer)
    def get(self, request: Request, experiment: str) -> Response:
        return _answer(request, experiment_scope(self.access, experiment))


class AgentTrendsView(ProjectView):
    """The rates of an agent's runs on one dataset, over its states and over experiments."""

    @extend_schema(
        parameters=[
            OpenApiParameter("agent", str, description="The agent's name; by default that of the newest run."),
            OpenApiParameter("dataset", str, description="The dataset; by default that of the agent's newest run."),
            OpenApiParameter("experiment", str, description="Only runs of this experiment."),
            *ASKED,
        ],
        responses=TrendSerializer,
    )
    def get(self, request: Request) -> Response:
        return _answer(request, agent_scope(self.access))


def _answer(request: Request, scope: Scope) -> Response:
    trend, points = trend_of_request(scope, read_trend_request(request.query_params))
    rates: dict[int, dict[str, dict[str, Any]]] = {}
    for point in points:
        rates.setdefault(point.run.number, {})[point.name] = _rate(point)
    runs = [{"run": row.run, "rates": rates.get(row.run.number, {})} for row in trend.rows]
    return Response(TrendSerializer({"runs": runs}).data)


def _rate(point: Point) -> dict[str, Any]:
    rate = {name: getattr(point.rate, name) for name in ("passed", "total", "value", "low", "high", "examples")}
    return rate | {
        name: getattr(point, name) for name in ("line", "broken", "judge", "model", "flag", "tool", "argument")
    }
