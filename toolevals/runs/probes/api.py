"""Serve checks of judges with probes in the REST interface: what one takes, beginning it, and what came of it."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.runs.judge_calibrations.api import CalibrationEstimateSerializer, JudgeView
from toolevals.runs.models import ProbeCheck
from toolevals.runs.probes.reading import ProbeEstimate, probe_estimate
from toolevals.runs.probes.results import COLUMNS, probe_rows, probed
from toolevals.runs.probes.services import probes_begin
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent


class ProbeEstimateSerializer(serializers.Serializer[ProbeEstimate]):
    """The size and cost of a check of a judge with probes; no cost without prices."""

    probes = serializers.IntegerField()
    of = serializers.IntegerField()
    questions = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class ProbeCheckSerializer(serializers.ModelSerializer[ProbeCheck]):
    """A check with probes. `moved` and `compared` are null until it is finished; its job says how far it is."""

    judge = serializers.UUIDField(source="judge_id")
    job = serializers.UUIDField(source="job_id", allow_null=True)
    asked = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)

    class Meta:
        model = ProbeCheck
        fields = ("id", "judge", "job", "budget", "asked", "cost", "moved", "compared", "created_at", "finished_at")


class ProbesRequestSerializer(PlainSerializer):
    """A check to be, and what it may cost."""

    budget = serializers.FloatField(required=False, allow_null=True, default=None)


class ProbeTallySerializer(PlainSerializer):
    """The effects of some probes on the judge, counted."""

    name = serializers.CharField()
    moved = serializers.IntegerField()
    compared = serializers.IntegerField()
    share = CalibrationEstimateSerializer()
    effects = serializers.DictField(child=serializers.IntegerField())


class ProbeRowSerializer(PlainSerializer):
    """One probe, as a row of the file."""

    probe = serializers.CharField()
    kind = serializers.CharField()
    language = serializers.CharField()
    place = serializers.CharField()
    base = serializers.CharField()
    text = serializers.CharField()
    effect = serializers.CharField()
    value_without = serializers.FloatField(allow_null=True)
    value_with = serializers.FloatField(allow_null=True)
    reason_without = serializers.CharField(allow_null=True)
    reason_with = serializers.CharField(allow_null=True)
    error_without = serializers.CharField(allow_null=True)
    error_with = serializers.CharField(allow_null=True)
    answered_by = serializers.CharField(allow_null=True)
    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    cost = serializers.FloatField(allow_null=True)


class ProbeResultsSerializer(PlainSerializer):
    """The probes that move the judge so far."""

    whole = ProbeTallySerializer()
    by_kind = ProbeTallySerializer(many=True)
    by_place = ProbeTallySerializer(many=True)
    by_language = ProbeTallySerializer(many=True)
    probes = ProbeRowSerializer(many=True)


class ProbeEstimateView(JudgeView):
    """The estimated size and cost of a check of a judge with probes."""

    @extend_schema(responses=ProbeEstimateSerializer)
    def get(self, request: Request, judge: UUID) -> Response:
        return Response(ProbeEstimateSerializer(probe_estimate(self.judge())).data)


class ProbeChecks(JudgeView, ListAPIView[ProbeCheck]):
    """The checks with probes of a judge's rubric version and model, the newest first; by POST, one more."""

    serializer_class = ProbeCheckSerializer
    queryset = ProbeCheck.objects.none()

    def get_queryset(self) -> QuerySet[ProbeCheck]:
        rows: QuerySet[ProbeCheck] = ProbeCheck.objects.in_project(self.project).of_judge(self.judge()).with_spending()
        return rows

    @extend_schema(request=ProbesRequestSerializer, responses={201: ProbeCheckSerializer})
    @idempotent
    def post(self, request: Request, judge: UUID) -> Response:
        serializer = ProbesRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        probes = probes_begin(judge=self.judge(), actor=self.user, budget=serializer.validated_data["budget"])
        shown = ProbeCheck.objects.in_project(self.project).with_spending().get(pk=probes.pk)
        return Response(ProbeCheckSerializer(shown).data, status=HTTPStatus.CREATED)


class ProbeCheckDetail(ProjectView):
    """One check with probes."""

    @extend_schema(responses=ProbeCheckSerializer)
    def get(self, request: Request, probing: UUID) -> Response:
        rows = ProbeCheck.objects.in_project(self.project).with_spending()
        return Response(ProbeCheckSerializer(get_object_or_404(rows, pk=probing)).data)


class ProbeResults(ProjectView):
    """The probes that move the judge, by kind, place and language, and the answers about each, so far."""

    @extend_schema(responses=ProbeResultsSerializer)
    def get(self, request: Request, probing: UUID) -> Response:
        check = get_object_or_404(ProbeCheck.objects.in_project(self.project), pk=probing)
        results = probed(check)
        parts = {f"by_{name.lower()}": rows for name, rows in results.parts}
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in probe_rows(check)]
        return Response(ProbeResultsSerializer({"whole": results.whole, **parts, "probes": rows}).data)
