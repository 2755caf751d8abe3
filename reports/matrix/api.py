"""Serve the reading of one cell of the matrix in the REST interface: the same as in the pane next to the matrix."""

from __future__ import annotations

from http import HTTPStatus

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.matrix.cell import read_cell
from reports.matrix.queries import counted_matrix
from reports.matrix.state import read_matrix_state
from reports.run.api import FILTERS, SPLIT, RateSerializer, RunReportView
from reports.run.table import CELLS
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.tables import serializer_of


class AskedSerializer(PlainSerializer):
    """A case that shows something: its example's id, its own, and what the user said last."""

    external_id = serializers.CharField(source="name")
    case_id = serializers.CharField(source="case")
    said = serializers.CharField(source="text", allow_blank=True)


class SentenceSerializer(PlainSerializer):
    """A sentence that quotes texts, and the cases that show it. `act` is the kind of thing that is tried."""

    sentence = serializers.CharField(source="text")
    act = serializers.CharField(allow_blank=True)
    cases = AskedSerializer(source="named", many=True)


class AdviceSerializer(PlainSerializer):
    """The kind of mistake in a cell, and why; its evidence; what to try."""

    kind = serializers.CharField(source="kind.name")
    why = serializers.CharField(source="kind.why", allow_blank=True)
    shown = SentenceSerializer(many=True)
    to_try = SentenceSerializer(source="tries", many=True)


class ReadToolSerializer(PlainSerializer):
    """A tool of the cell, as it was offered in its first case."""

    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)


class CellReadingSerializer(PlainSerializer):
    """One cell. `rank` counts confusions from the largest, 0 on the diagonal, where there is no advice."""

    cell = serializer_of(CELLS)()
    rate = RateSerializer()
    mode = serializers.CharField(allow_blank=True)
    rank = serializers.IntegerField()
    confusions = serializers.IntegerField()
    case_count = serializers.IntegerField()
    tools = ReadToolSerializer(many=True)
    advice = AdviceSerializer(allow_null=True)


class CellView(RunReportView):
    """One cell of a run's matrix, and what to try; without `expected` and `actual` the largest confusion.

    204 where there is nothing to read: no such cell, or no confusion.
    """

    @extend_schema(
        parameters=[
            *FILTERS,
            *SPLIT,
            OpenApiParameter("expected", str, description="The cell's row."),
            OpenApiParameter("actual", str, description="The cell's column."),
        ],
        responses={200: CellReadingSerializer, 204: None},
    )
    def get(self, request: Request, number: int) -> Response:
        grading, state = self.grading(number), read_matrix_state(request.query_params)
        reading = read_cell(grading, counted_matrix(grading, state), state)
        if reading is None:
            return Response(status=HTTPStatus.NO_CONTENT)
        return Response(CellReadingSerializer(reading).data)
