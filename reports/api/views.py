"""Reports in the REST interface: the same analyses as the pages and the CSV files."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reports.analyses.layers import layers_of
from reports.analyses.matrix import Order, matrix_of
from reports.analyses.modes import failure_modes
from reports.analyses.sentence import sentence
from reports.analyses.tools import tools_of
from reports.api.serializers import LayersSerializer, MatrixSerializer, ToolTableSerializer, TrendSerializer
from reports.filters import View
from reports.matrix_state import read_matrix_state
from reports.pages import graded, run_head
from reports.queries import matrix_counts, verdict_counts
from reports.trend_page import experiment_of, experiment_trend
from toolevals.runs.models import Grading
from toolevals.workspace.api.base import ProjectView

GRADING = OpenApiParameter("grading", int, description="The number of a grading; by default the newest finished one.")
FILTERS = [
    GRADING,
    OpenApiParameter("view", str, enum=list(View), description="First calls of cases, or aligned calls."),
    OpenApiParameter("bucket", str, description="Only cases of this bucket."),
    OpenApiParameter("difficulty", str, description="Only cases of this difficulty."),
]


class RunReportView(ProjectView):
    """A report on one grading of one run."""

    def grading(self, number: int) -> Grading:
        return graded(run_head(self.access, number, "run"))


class MatrixView(RunReportView):
    """The confusion matrix of a run."""

    @extend_schema(
        parameters=[*FILTERS, OpenApiParameter("order", str, enum=list(Order), description="Order of the classes.")],
        responses=MatrixSerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        state = read_matrix_state(request.query_params)
        counts = matrix_counts(self.grading(number), state.filters)
        return Response(MatrixSerializer(matrix_of(counts, state.order)).data)


class ToolsView(RunReportView):
    """Precision, recall and F1 of each tool of a run."""

    @extend_schema(parameters=FILTERS, responses=ToolTableSerializer)
    def get(self, request: Request, number: int) -> Response:
        state = read_matrix_state(request.query_params)
        table = tools_of(matrix_of(matrix_counts(self.grading(number), state.filters)))
        return Response(ToolTableSerializer(table).data)


class LayersView(RunReportView):
    """Where a run's cases are lost, and how."""

    @extend_schema(parameters=[GRADING], responses=LayersSerializer)
    def get(self, request: Request, number: int) -> Response:
        counts = verdict_counts(self.grading(number))
        layers, modes = layers_of(counts), failure_modes(counts.get("mode", {}))
        return Response(LayersSerializer({"layers": layers, "modes": modes, "sentence": sentence(layers, modes)}).data)


class TrendsView(ProjectView):
    """The rates of an experiment's runs."""

    @extend_schema(responses=TrendSerializer)
    def get(self, request: Request, experiment: str) -> Response:
        return Response(TrendSerializer(experiment_trend(experiment_of(self.access, experiment))).data)
