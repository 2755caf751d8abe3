"""Serve rates over runs in the REST interface: the same points as the pages and the files."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reports.trends.analysis import Point
from reports.trends.queries import Scope, agent_scope, experiment_scope
from reports.trends.rates import ToolRate
from reports.trends.table import GRADED, read_trend_request, trend_of_request
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.tables import serializer_of

ASKED = [
    OpenApiParameter(
        "of",
        str,
        enum=["tools", "parameters"],
        description="Rates by tool, or by parameter, instead of layers, depths and judges.",
    ),
    OpenApiParameter("rate", str, enum=list(ToolRate), description="Of tools; by default recall."),
]


class TrendsView(ProjectView):
    """The rates of an experiment's runs."""

    @extend_schema(parameters=ASKED, responses=serializer_of(GRADED))
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
        responses=serializer_of(GRADED),
    )
    def get(self, request: Request) -> Response:
        return _answer(request, agent_scope(self.access))


def _answer(request: Request, scope: Scope) -> Response:
    trend, points = trend_of_request(scope, read_trend_request(request.query_params))
    rates: dict[int, dict[str, Point]] = {}
    for point in points:
        rates.setdefault(point.run.number, {})[point.name] = point
    runs = [{"run": row.run, "rates": rates.get(row.run.number, {})} for row in trend.rows]
    return Response(serializer_of(GRADED)({"runs": runs}).data)
