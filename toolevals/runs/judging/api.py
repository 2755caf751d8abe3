"""Serve judges and rubrics in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.engine.case_findings import UNSCORED
from toolevals.grading.judging import SHIPPED
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading.services import unscored_ask
from toolevals.runs.judge_calibrations.api import CalibrationEstimateSerializer
from toolevals.runs.judging.estimate import judging_estimates
from toolevals.runs.judging.judge_reliability import Standing, Trust, standings_of
from toolevals.runs.judging.models import USUAL_THRESHOLD, USUAL_TOLERANCE
from toolevals.runs.judging.services import JudgeRequest, judge_add, judge_change, rubric_add, rubric_use
from toolevals.runs.judging.unscored import unscored_layers
from toolevals.runs.models import Judge, Measure, Rubric, Run
from toolevals.runs.runs.api import RunView
from toolevals.runs.runs.serializers import GradingStartedSerializer
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.requests import whole_number


class RubricSerializer(serializers.ModelSerializer[Rubric]):
    """One version of a rubric."""

    document = serializers.JSONField()

    class Meta:
        model = Rubric
        fields = ("id", "name", "version", "title", "layer", "is_shipped", "document", "created_at")


class RubricDocumentSerializer(PlainSerializer):
    """A rubric of the project's own (`rubric.v1.json`; its version is given by us)."""

    document = serializers.DictField()


class StandingSerializer(serializers.Serializer[Standing]):
    """The trust in a judge, by its newest calibration and check for drift; `flag` says why there is none."""

    trust = serializers.ChoiceField(choices=list(Trust))
    flag = serializers.CharField(source="words")
    calibration = serializers.UUIDField(source="calibration.pk", default=None, allow_null=True)
    calibrated_at = serializers.DateTimeField(allow_null=True)
    is_old = serializers.BooleanField()
    kappa = CalibrationEstimateSerializer(source="table.kappa", default=None, allow_null=True)
    agreement = CalibrationEstimateSerializer(source="table.agreement", default=None, allow_null=True)
    drift_check = serializers.UUIDField(source="drift.check.pk", default=None, allow_null=True)


class JudgeSerializer(serializers.ModelSerializer[Judge]):
    """A judge. Its key is a secret's name."""

    rubric = RubricSerializer()
    options = serializers.JSONField()
    prices = serializers.JSONField(allow_null=True)
    standing = serializers.SerializerMethodField()

    class Meta:
        model = Judge
        fields = (
            "id",
            "name",
            "rubric",
            "model",
            "is_pinned",
            "options",
            "prices",
            "is_on",
            "share",
            "budget",
            "threshold",
            "measure",
            "tolerance",
            "standing",
            "created_at",
        )

    @extend_schema_field(StandingSerializer)
    def get_standing(self, judge: Judge) -> Any:
        return StandingSerializer(self.context.get("standings", standings_of([judge]))[judge.pk]).data


class JudgeRequestSerializer(PlainSerializer):
    """A judge to be: `rubric` is a shipped rubric's name, or `name@version` of one's own."""

    rubric = serializers.CharField(max_length=70)
    name = serializers.CharField(max_length=120)
    model = serializers.CharField(max_length=120)
    options = serializers.DictField(help_text="base_url, secret, seed, max_tokens, timeout, extra")
    prices = serializers.DictField(required=False, allow_null=True, default=None)
    share = serializers.FloatField(required=False, default=1.0)
    budget = serializers.FloatField(required=False, allow_null=True, default=None)
    threshold = serializers.FloatField(required=False, default=USUAL_THRESHOLD)
    measure = serializers.ChoiceField(choices=Measure.choices, required=False, default=Measure.KAPPA)
    tolerance = serializers.FloatField(required=False, default=USUAL_TOLERANCE)
    allow_alias = serializers.BooleanField(required=False, default=False)


class JudgeChangeSerializer(PlainSerializer):
    """The changeable fields of a judge; a field left out stays."""

    is_on = serializers.BooleanField(required=False)
    share = serializers.FloatField(required=False)
    budget = serializers.FloatField(required=False)
    threshold = serializers.FloatField(required=False)
    measure = serializers.ChoiceField(choices=Measure.choices, required=False)
    tolerance = serializers.FloatField(required=False)


class JudgeEstimateSerializer(PlainSerializer):
    """The questions that one judge would get in one more grading of a run."""

    judge = serializers.UUIDField(source="judge.pk")
    questions = serializers.IntegerField()
    known = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    capped = serializers.BooleanField()


class UnscoredSerializer(PlainSerializer):
    """A layer whose rules leave questions: in how many cases, and what the rest takes of each judge that can answer."""

    layer = serializers.ChoiceField(choices=tuple(UNSCORED))
    rubric = serializers.CharField(help_text="The shipped rubric that answers")
    cases = serializers.IntegerField()
    estimates = JudgeEstimateSerializer(many=True)


class UnscoredJudgeSerializer(PlainSerializer):
    """The judge to ask, on or off."""

    judge = serializers.UUIDField()


class Rubrics(ProjectView, ListAPIView[Rubric]):
    """The project's rubrics in use, by name, newest version first; by POST, one more of its own."""

    serializer_class = RubricSerializer
    queryset = Rubric.objects.none()

    def get_queryset(self) -> QuerySet[Rubric]:
        return Rubric.objects.in_project(self.project)

    @extend_schema(request=RubricDocumentSerializer, responses={201: RubricSerializer})
    def post(self, request: Request) -> Response:
        serializer = RubricDocumentSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        rubric = rubric_add(project=self.project, actor=self.user, document=serializer.validated_data["document"])
        return Response(RubricSerializer(rubric).data, status=HTTPStatus.CREATED)


class Judges(ProjectView, ListAPIView[Judge]):
    """The project's judges, the newest first; by POST, one more, switched off."""

    serializer_class = JudgeSerializer
    queryset = Judge.objects.none()

    def get_queryset(self) -> QuerySet[Judge]:
        return Judge.objects.in_project(self.project)

    def get_serializer_context(self) -> dict[str, Any]:
        judges = Judge.objects.filter(project=self.project)
        return {**super().get_serializer_context(), "standings": standings_of(judges)}

    @extend_schema(request=JudgeRequestSerializer, responses={201: JudgeSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = JudgeRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = dict(serializer.validated_data)
        rubric = self._rubric(data.pop("rubric"))
        judge = judge_add(project=self.project, actor=self.user, rubric=rubric, request=JudgeRequest(**data))
        return Response(JudgeSerializer(judge).data, status=HTTPStatus.CREATED)

    def _rubric(self, named: str) -> Rubric:
        if named in SHIPPED:
            return rubric_use(project=self.project, actor=self.user, name=named)
        name, _, version = named.partition("@")
        versions = Rubric.objects.in_project(self.project).filter(name=name)
        asked = whole_number(version)
        if asked is not None and (one := versions.filter(version=asked).first()):
            return one
        raise InvalidDocument.at("/rubric", "is not a rubric of this project: name@version, or a shipped one's name")


class JudgeDetail(ProjectView):
    """One judge; by PATCH, whether it is on, its share and its cap."""

    @extend_schema(responses=JudgeSerializer)
    def get(self, request: Request, judge: UUID) -> Response:
        return Response(JudgeSerializer(self._find(judge)).data)

    @extend_schema(request=JudgeChangeSerializer, responses=JudgeSerializer)
    def patch(self, request: Request, judge: UUID) -> Response:
        serializer = JudgeChangeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        changed = judge_change(judge=self._find(judge), actor=self.user, **serializer.validated_data)
        return Response(JudgeSerializer(changed).data)

    def _find(self, judge: UUID) -> Judge:
        row: Judge = get_object_or_404(Judge.objects.in_project(self.project).select_related("project"), pk=judge)
        return row


class Judging(ProjectView):
    """The questions and the cost of grading a run again with the judges that are on."""

    @extend_schema(responses=JudgeEstimateSerializer(many=True))
    def get(self, request: Request, number: int) -> Response:
        runs = Run.objects.in_project(self.project).select_related("grading__run__agent__tools__tools")
        run = get_object_or_404(runs, number=number)
        return Response(JudgeEstimateSerializer(judging_estimates(run), many=True).data)


class UnscoredQuestions(RunView):
    """The questions that rules leave unscored in a run; by POST, one judge is asked these, as one more grading."""

    @extend_schema(responses=UnscoredSerializer(many=True))
    def get(self, request: Request, number: int) -> Response:
        grading = self.find(number).grading
        return Response(UnscoredSerializer(unscored_layers(grading) if grading else (), many=True).data)

    @extend_schema(request=UnscoredJudgeSerializer, responses={202: GradingStartedSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        run, serializer = self.find(number), UnscoredJudgeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        judge = Judge.objects.in_project(self.project).filter(pk=serializer.validated_data["judge"]).first()
        if judge is None:
            raise InvalidDocument.at("/judge", "is not a judge of this project")
        grading = unscored_ask(run=run, actor=self.user, judge=judge)
        shown = GradingStartedSerializer({"grading": grading, "job": grading.job}).data
        return Response(shown, status=HTTPStatus.ACCEPTED)
