"""Show what judges say of a run, in the REST interface."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.api.serializers import RateSerializer
from reports.api.views import GRADING, RunReportView
from reports.queries.judges import judges_of
from toolevals.runs.judge_calibrations.api import CalibrationEstimateSerializer


class JudgeRowSerializer(serializers.Serializer[Any]):
    """One judge in one grading. `flag` says why its numbers are to be read with care; empty where nothing speaks so."""

    rubric = serializers.CharField()
    version = serializers.IntegerField()
    layer = serializers.CharField()
    judge = serializers.CharField()
    model = serializers.CharField()
    pinned = serializers.BooleanField()
    share = serializers.FloatField()
    rate = RateSerializer()
    failed = serializers.IntegerField()
    unscored = serializers.IntegerField()
    errored = serializers.IntegerField()
    settled = serializers.IntegerField(allow_null=True)
    corrected = CalibrationEstimateSerializer(allow_null=True)
    mean = serializers.FloatField(allow_null=True)
    asked = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    goal = serializers.FloatField()
    flag = serializers.CharField(source="mark.flag")
    injections = serializers.IntegerField()
    only_unscored = serializers.BooleanField(help_text="Asked where rules leave a question, in its share or not")
    calibration = serializers.UUIDField(source="mark.calibration", allow_null=True)
    calibrated_at = serializers.DateTimeField(source="mark.calibrated_at", allow_null=True)
    kappa = CalibrationEstimateSerializer(source="mark.table.kappa", default=None, allow_null=True)
    agreement = CalibrationEstimateSerializer(source="mark.table.agreement", default=None, allow_null=True)


class JudgesView(RunReportView):
    """The results of each judge of a run, and how far it can be trusted."""

    @extend_schema(parameters=[GRADING], responses=JudgeRowSerializer(many=True))
    def get(self, request: Request, number: int) -> Response:
        return Response(JudgeRowSerializer(judges_of(self.grading(number)), many=True).data)
