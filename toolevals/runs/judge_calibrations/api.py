"""Serve calibrations of judges in the REST interface: draw, rate, close, and read the results."""

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

from toolevals.grading.values.problems import InvalidDocument
from toolevals.presentation.table import ESTIMATE
from toolevals.runs.judge_calibrations.reading import ThumbCounts
from toolevals.runs.judge_calibrations.results import SETS, Results, progress_of, results_of
from toolevals.runs.judge_calibrations.services import (
    USUAL_RATERS,
    USUAL_SIZE,
    CalibrationRequest,
    calibration_begin,
    calibration_close,
    case_rate,
)
from toolevals.runs.judging.blindness import names_raters, shows_results
from toolevals.runs.models import CalibratedCase, Grading, Judge, JudgeCalibration, Rating
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.models import within
from toolevals.workspace.tables import serializer_of

CalibrationEstimateSerializer = serializer_of(ESTIMATE)


class JudgeCalibrationSerializer(serializers.ModelSerializer[JudgeCalibration]):
    """A calibration and how far it is. Kappa and agreement are of the held-out cases, null while it is open."""

    judge = serializers.UUIDField(source="judge_id")
    run = serializers.IntegerField(source="grading.run.number")
    grading = serializers.IntegerField(source="grading.number")
    drawn_from = serializers.DictField(child=serializers.IntegerField())
    size = serializers.IntegerField()
    held_out = serializers.IntegerField()
    ratings = serializers.IntegerField()

    class Meta:
        model = JudgeCalibration
        fields = (
            "id",
            "judge",
            "run",
            "grading",
            "raters",
            "seed",
            "drawn_from",
            "size",
            "held_out",
            "ratings",
            "created_at",
            "closed_at",
        )


class CalibrationRequestSerializer(PlainSerializer):
    """A calibration to be: of the cases of a run's grading, by default the one that is shown."""

    run = serializers.IntegerField()
    grading = serializers.IntegerField(required=False, allow_null=True, default=None)
    held_out = serializers.IntegerField(required=False, default=USUAL_SIZE)
    tuning = serializers.IntegerField(required=False, default=0)
    raters = serializers.IntegerField(required=False, default=USUAL_RATERS)
    seed = serializers.CharField(required=False, default="", allow_blank=True, max_length=100)
    thumbs = serializers.BooleanField(
        required=False, default=False, help_text="Whether verdicts with a thumb down are rated as well, in no figure."
    )


class RatingRequestSerializer(PlainSerializer):
    """A rating of a case: a value of the rubric's scale, or null for someone who cannot tell."""

    case = serializers.UUIDField()
    value = serializers.FloatField(allow_null=True)
    note = serializers.CharField(required=False, default="", allow_blank=True)


class RatingSerializer(serializers.ModelSerializer[Rating]):
    """One person's rating."""

    case = serializers.UUIDField(source="case_id")

    class Meta:
        model = Rating
        fields = ("id", "case", "value", "note", "created_at")


class CaseToRateSerializer(serializers.ModelSerializer[CalibratedCase]):
    """A case as its raters see it: what the judge was given, by question."""

    questions = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = CalibratedCase
        fields = ("id", "questions")


class ResultSerializer(PlainSerializer):
    """One case of a closed calibration: what the judge and what people say. `ratings` are in the order they came."""

    id = serializers.UUIDField(source="case.pk")
    graded_case = serializers.UUIDField(source="case.case_id")
    value = serializers.FloatField(source="shown_value", allow_null=True)
    judge = serializers.CharField(source="shown_judge", help_text="`hidden` while people rate the case elsewhere.")
    people = serializers.CharField()
    ratings = RatingSerializer(many=True)


class RaterSerializer(PlainSerializer):
    """One rater, for owners."""

    rater = serializers.CharField()
    rated = serializers.IntegerField()
    with_judge = CalibrationEstimateSerializer()
    with_others = CalibrationEstimateSerializer()


class ThumbCountsSerializer(PlainSerializer):
    """Thumbs on a judge's verdicts that passed, or failed."""

    judge = serializers.CharField(help_text="What the judge says.")
    up = serializers.IntegerField()
    down = serializers.IntegerField()


class JudgeCalibrationResultsSerializer(serializers.Serializer[Results]):
    """The results of one set of a closed calibration."""

    kappa = CalibrationEstimateSerializer(source="comparison.table.kappa")
    agreement = CalibrationEstimateSerializer(source="comparison.table.agreement")
    sensitivity = CalibrationEstimateSerializer(source="comparison.table.sensitivity")
    specificity = CalibrationEstimateSerializer(source="comparison.table.specificity")
    people_agreement = CalibrationEstimateSerializer(source="comparison.people_agreement")
    people_kappa = CalibrationEstimateSerializer(source="comparison.people_kappa")
    stated = CalibrationEstimateSerializer(allow_null=True)
    corrected = CalibrationEstimateSerializer(allow_null=True)
    thumbs = serializers.SerializerMethodField(help_text="Self-selected: they are in no figure.")
    confusion = serializers.SerializerMethodField()
    raters = serializers.SerializerMethodField()
    cases = ResultSerializer(many=True)

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_confusion(self, results: Results) -> list[dict[str, Any]]:
        cells = sorted(results.comparison.cells.items())
        return [{"judge": judge, "people": people, "count": count} for (judge, people), count in cells]

    @extend_schema_field(ThumbCountsSerializer(many=True))
    def get_thumbs(self, results: Results) -> list[dict[str, Any]]:
        return [{"judge": said, "up": up, "down": down} for said, up, down in self.context["thumbs"].rows]

    @extend_schema_field(RaterSerializer(many=True))
    def get_raters(self, results: Results) -> Any:
        named = results.comparison.raters if self.context.get("named") else ()
        return RaterSerializer(named, many=True).data


class CalibrationView(ProjectView):
    """The base of the views of one calibration."""

    def find(self, pk: UUID) -> Any:
        """Return the project's calibration. Raises Http404."""
        return get_object_or_404(JudgeCalibration.objects.in_project(self.project).with_progress(), pk=pk)


class JudgeView(ProjectView):
    """Holds what the views of one judge share."""

    def judge(self) -> Judge:
        """Return the judge that the address names. Raises Http404."""
        rows = Judge.objects.in_project(self.project).select_related("project")
        judge: Judge = get_object_or_404(rows, pk=self.kwargs["judge"])
        return judge


class Calibrations(JudgeView, ListAPIView[JudgeCalibration]):
    """A judge's calibrations, the newest first; by POST, one more."""

    serializer_class = JudgeCalibrationSerializer
    queryset = JudgeCalibration.objects.none()

    def get_queryset(self) -> QuerySet[JudgeCalibration]:
        rows: QuerySet[JudgeCalibration] = JudgeCalibration.objects.in_project(self.project).with_progress()
        return rows.filter(judge=self.judge())

    @extend_schema(request=CalibrationRequestSerializer, responses={201: JudgeCalibrationSerializer})
    @idempotent
    def post(self, request: Request, judge: UUID) -> Response:
        serializer = CalibrationRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = dict(serializer.validated_data)
        grading = self._grading(data.pop("run"), data.pop("grading"))
        begin_request = CalibrationRequest(judge=self.judge(), grading=grading, **data)
        calibration = calibration_begin(request=begin_request, actor=self.user)
        shown = JudgeCalibration.objects.in_project(self.project).with_progress().get(pk=calibration.pk)
        return Response(JudgeCalibrationSerializer(shown).data, status=HTTPStatus.CREATED)

    def _grading(self, run: int, number: int | None) -> Grading:
        gradings = Grading.objects.filter(within(self.project, "run"), run__number=run, finished_at__isnull=False)
        rows = gradings.filter(number=number) if number else gradings.order_by("-number")
        if (grading := rows.select_related("run").first()) is None:
            raise InvalidDocument.at("/run", "has no such finished grading")
        return grading


class CalibrationDetail(CalibrationView):
    """One calibration and how far it is."""

    @extend_schema(responses=JudgeCalibrationSerializer)
    def get(self, request: Request, calibration: UUID) -> Response:
        return Response(JudgeCalibrationSerializer(self.find(calibration)).data)


class CalibrationEnd(CalibrationView):
    """End a calibration with the ratings that it has."""

    @extend_schema(request=None, responses=JudgeCalibrationSerializer)
    def post(self, request: Request, calibration: UUID) -> Response:
        calibration_close(calibration=self.find(calibration), actor=self.user)
        return Response(JudgeCalibrationSerializer(self.find(calibration)).data)


class CalibrationResults(CalibrationView):
    """The results of a calibration, once it is closed; 409 before."""

    @extend_schema(
        parameters=[
            OpenApiParameter("set", str, enum=list(SETS), description="Which cases; held-out ones by default.")
        ],
        responses={200: JudgeCalibrationResultsSerializer, 409: None},
    )
    def get(self, request: Request, calibration: UUID) -> Response:
        row = self.find(calibration)
        if not shows_results(row):
            raise Problems(HTTPStatus.CONFLICT, "This calibration is open: its results are hidden.")
        results = results_of(row, request.query_params.get("set", SETS[0]))
        context = {"named": names_raters(self.role), "thumbs": ThumbCounts.of(row.judge)}
        return Response(JudgeCalibrationResultsSerializer(results, context=context).data)


class Progress(PlainSerializer):
    """The number of cases that a person has rated."""

    rater = serializers.UUIDField()
    name = serializers.CharField()
    rated = serializers.IntegerField()


class CalibrationRaters(CalibrationView):
    """The number of cases that each person has rated."""

    @extend_schema(responses=Progress(many=True))
    def get(self, request: Request, calibration: UUID) -> Response:
        rows = progress_of(self.find(calibration))
        return Response([{"rater": str(pk), "name": name, "rated": count} for pk, name, count in rows])


class Ratings(CalibrationView):
    """The next case that is left for this person to rate, 204 where none is; by POST, a rating."""

    @extend_schema(responses={200: CaseToRateSerializer, 204: None})
    def get(self, request: Request, calibration: UUID) -> Response:
        case = self.find(calibration).cases.left_for(self.user).first()
        if case is None:
            return Response(status=HTTPStatus.NO_CONTENT)
        return Response(CaseToRateSerializer(case).data)

    @extend_schema(request=RatingRequestSerializer, responses={201: RatingSerializer})
    def post(self, request: Request, calibration: UUID) -> Response:
        serializer = RatingRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = dict(serializer.validated_data)
        rows = CalibratedCase.objects.select_related("calibration__judge__rubric", "calibration__judge__project")
        case = get_object_or_404(rows, calibration=self.find(calibration), pk=data.pop("case"))
        rating = case_rate(case=case, actor=self.user, **data)
        return Response(RatingSerializer(rating).data, status=HTTPStatus.CREATED)
