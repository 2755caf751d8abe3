"""Serve two runs side by side in the REST interface, by stratum, by judge and by metric."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.models import Example
from reports.api.comparison import PART_PARAMETERS, PairView
from reports.comparison import tables
from reports.comparison.judges import judge_deltas
from reports.comparison.metrics import compared_metrics
from reports.comparison.page import strata_of, stratum_named, stratum_rows
from reports.comparison.parameters import compared_parameters
from reports.comparison.spending import compared_spending
from reports.filters.case_filters import text
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.workspace.tables import serializer_of


class CompareStrataView(PairView):
    """The changes of one rate in each value of a stratum."""

    @extend_schema(
        parameters=[
            OpenApiParameter("by", str, enum=list(Example.STRATA), description="Which stratum; by default the first."),
            OpenApiParameter("layer", str, enum=list(VERDICT_NAMES), description="Which rate; by default the outcome."),
            *PART_PARAMETERS,
        ],
        responses=serializer_of(tables.STRATA)(many=True),
    )
    def get(self, request: Request, number: int, candidate: int) -> Response:
        runs = self.runs(number, candidate)
        layer = runs.comparison.layer(text(request.query_params, "layer"))
        name = stratum_named(text(request.query_params, "by"))
        rows = strata_of(runs, name, layer.name) if layer else ()
        named = stratum_rows(name, rows)
        return Response(serializer_of(tables.STRATA)(named, many=True).data)


class CompareJudgesView(PairView):
    """The changes in the verdicts of judges: models, in addition to the rules."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.JUDGES)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(serializer_of(tables.JUDGES)(judge_deltas(self.runs(number, candidate)), many=True).data)


class CompareMetricsView(PairView):
    """The changes in the metrics of whole cases."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.METRICS)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(serializer_of(tables.METRICS)(compared_metrics(self.runs(number, candidate)), many=True).data)


class CompareSpendingView(PairView):
    """The changes in what conversations take: money, tokens and time."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.SPENDING)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(serializer_of(tables.SPENDING)(compared_spending(self.runs(number, candidate)), many=True).data)


class CompareParametersView(PairView):
    """The changes in each parameter of each tool."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.PARAMETERS)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(
            serializer_of(tables.PARAMETERS)(compared_parameters(self.runs(number, candidate)), many=True).data
        )
