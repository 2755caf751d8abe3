"""Serve checks of judges for drift in the REST interface: ask again, and show what came of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.runs.drift.reading import KINDS, again_page
from toolevals.runs.drift.results import AgainCase, DriftCounts, cases_again, counts_of
from toolevals.runs.drift.services import drift_begin
from toolevals.runs.judge_calibrations.api import CalibrationEstimateSerializer, JudgeView
from toolevals.runs.models import DriftCheck, Judge, JudgeCalibration
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.idempotency.api import idempotent


class DriftFiguresSerializer(serializers.Serializer[DriftCounts]):
    """The changes of cases with a verdict now, and the judge compared with people then and now on the same ones."""

    changed = serializers.IntegerField(source="changes.changed")
    compared = serializers.IntegerField(source="changes.compared")
    to_failed = serializers.IntegerField(source="changes.to_failed")
    to_passed = serializers.IntegerField(source="changes.to_passed")
    unscored = serializers.IntegerField(source="changes.unscored")
    errored = serializers.IntegerField(source="changes.errored")
    unasked = serializers.IntegerField(source="changes.unasked")
    share_changed = CalibrationEstimateSerializer(source="changes.share")
    kappa_then = CalibrationEstimateSerializer(source="then.kappa")
    kappa_now = CalibrationEstimateSerializer(source="now.kappa")
    agreement_then = CalibrationEstimateSerializer(source="then.agreement")
    agreement_now = CalibrationEstimateSerializer(source="now.agreement")


class DriftCheckSerializer(serializers.ModelSerializer[DriftCheck]):
    """A check for drift. Its figures are null until it is finished; its job says how far it is, and cancels it."""

    judge = serializers.UUIDField(source="judge_id")
    calibration = serializers.UUIDField(source="calibration_id")
    job = serializers.UUIDField(source="job_id", allow_null=True)
    asked = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    figures = serializers.SerializerMethodField()

    class Meta:
        model = DriftCheck
        fields = (
            "id",
            "judge",
            "calibration",
            "job",
            "budget",
            "asked",
            "cost",
            "figures",
            "created_at",
            "finished_at",
        )

    @extend_schema_field(DriftFiguresSerializer(allow_null=True))
    def get_figures(self, check: DriftCheck) -> Any:
        counts = counts_of(check)
        return DriftFiguresSerializer(counts).data if counts else None


class DriftRequestSerializer(PlainSerializer):
    """A check to be: of the cases of a closed calibration, by default the newest of the rubric version and model."""

    calibration = serializers.UUIDField(required=False, allow_null=True, default=None)
    budget = serializers.FloatField(required=False, allow_null=True, default=None)


class DriftCaseSerializer(serializers.Serializer[AgainCase]):
    """One case of a finished check: what the judge said before and says now, and what people say."""

    id = serializers.UUIDField(source="case.pk")
    graded_case = serializers.UUIDField(source="case.case_id")
    is_held_out = serializers.BooleanField(source="case.is_held_out")
    kind = serializers.ChoiceField(choices=list(KINDS))
    before = serializers.CharField()
    before_value = serializers.FloatField(source="case.value", allow_null=True)
    before_reason = serializers.CharField(source="reason_before")
    now = serializers.CharField()
    now_value = serializers.FloatField(source="value", allow_null=True)
    now_reason = serializers.CharField(source="reason_now")
    people = serializers.CharField()


class DriftCasesSerializer(PlainSerializer):
    """A page of a check's cases of one kind; `following` is the number of the next page, 0 at the end."""

    count = serializers.IntegerField()
    hidden = serializers.IntegerField()
    following = serializers.IntegerField()
    results = DriftCaseSerializer(source="rows", many=True)


class DriftChecks(JudgeView, ListAPIView[DriftCheck]):
    """The checks for drift of a judge's rubric version and model, the newest first; by POST, one more."""

    serializer_class = DriftCheckSerializer
    queryset = DriftCheck.objects.none()

    def get_queryset(self) -> QuerySet[DriftCheck]:
        rows: QuerySet[DriftCheck] = DriftCheck.objects.in_project(self.project).of_judge(self.judge()).with_spending()
        return rows

    @extend_schema(request=DriftRequestSerializer, responses={201: DriftCheckSerializer})
    @idempotent
    def post(self, request: Request, judge: UUID) -> Response:
        serializer = DriftRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        judge_row = self.judge()
        calibration = self._calibration(judge_row, data["calibration"])
        drift = drift_begin(judge=judge_row, calibration=calibration, actor=self.user, budget=data["budget"])
        shown = DriftCheck.objects.in_project(self.project).with_spending().get(pk=drift.pk)
        return Response(DriftCheckSerializer(shown).data, status=HTTPStatus.CREATED)

    def _calibration(self, judge: Judge, wanted: UUID | None) -> JudgeCalibration:
        rows = JudgeCalibration.objects.in_project(self.project)
        if wanted is not None:
            named = rows.filter(pk=wanted)
        else:
            same = rows.filter(judge__rubric=judge.rubric_id, judge__model=judge.model, closed_at__isnull=False)
            named = same.order_by("-closed_at")
        if (newest := named.first()) is None:
            raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "There is no such closed calibration of this judge.")
        return newest


class DriftCheckDetail(ProjectView):
    """One check for drift."""

    @extend_schema(responses=DriftCheckSerializer)
    def get(self, request: Request, drift: UUID) -> Response:
        rows = DriftCheck.objects.in_project(self.project).with_spending()
        return Response(DriftCheckSerializer(get_object_or_404(rows, pk=drift)).data)


class DriftCases(ProjectView):
    """The cases of a finished check, those that changed by default; 409 before it is finished."""

    @extend_schema(
        parameters=[
            OpenApiParameter("show", str, enum=list(KINDS), description="Which cases; those that changed by default."),
            OpenApiParameter("page", int, description="From 1."),
        ],
        responses={200: DriftCasesSerializer, 409: None},
    )
    def get(self, request: Request, drift: UUID) -> Response:
        check = get_object_or_404(DriftCheck.objects.in_project(self.project), pk=drift)
        if check.counts is None:
            raise Problems(HTTPStatus.CONFLICT, "This check is not finished.")
        return Response(DriftCasesSerializer(again_page(cases_again(check), request.query_params)).data)
