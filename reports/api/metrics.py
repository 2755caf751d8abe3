"""Show what the metrics of a run came to, in the REST interface."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.api.serializers import RateSerializer
from reports.api.views import GRADING, RunReportView
from reports.queries.metrics import metrics_of


class MetricRowSerializer(serializers.Serializer[Any]):
    """One metric in one grading. The value of `rate` is the mean of the cases' values, which pass from `passes_at`."""

    name = serializers.CharField()
    version = serializers.CharField()
    passes_at = serializers.FloatField(source="goal")
    rate = RateSerializer()
    failed = serializers.IntegerField()
    unscored = serializers.IntegerField()
    errored = serializers.IntegerField()
    examples = serializers.IntegerField()


class MetricsView(RunReportView):
    """The results of each metric of a run."""

    @extend_schema(parameters=[GRADING], responses=MetricRowSerializer(many=True))
    def get(self, request: Request, number: int) -> Response:
        return Response(MetricRowSerializer(metrics_of(self.grading(number)), many=True).data)
