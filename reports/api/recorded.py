"""Serve our verdicts next to recorded rewards, in the REST interface."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.api.views import GRADING, RunReportView
from reports.filters.case_filters import verdict_column
from reports.queries.recorded import recorded_agreement
from toolevals.grading.values.verdict_table import VERDICT_NAMES


class RecordedCellSerializer(serializers.Serializer[Any]):
    """The number of cases with one status and one kind of reward; `agrees` is null where the status says neither."""

    verdict = serializers.CharField()
    status = serializers.CharField()
    reward = serializers.CharField()
    count = serializers.IntegerField()
    agrees = serializers.BooleanField(allow_null=True)


class RecordedAgreementSerializer(serializers.Serializer[Any]):
    """A verdict by recorded reward: `agreed` of the `scored` cases, of `total` that have a reward."""

    column = serializers.CharField()
    total = serializers.IntegerField()
    scored = serializers.IntegerField()
    agreed = serializers.IntegerField()
    cells = RecordedCellSerializer(many=True)


class RecordedView(RunReportView):
    """A verdict of a run's cases by the rewards that the source of the run recorded."""

    @extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("column", str, enum=list(VERDICT_NAMES), description="By default outcome."),
        ],
        responses=RecordedAgreementSerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        agreement = recorded_agreement(self.grading(number), verdict_column(request.query_params, "column"))
        return Response(RecordedAgreementSerializer(agreement).data)
