"""Serve tries of rubrics in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Judge, Run, Tryout, TryoutAnswer
from toolevals.runs.rubrics.results import Asked, Tried, TriedCase, tried
from toolevals.runs.rubrics.services import TryoutRequest, tryout_begin
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.models import untrashed


class TryoutSerializer(serializers.ModelSerializer[Tryout]):
    """A try of a rubric. Its job says how far it is, and cancels it."""

    document = serializers.JSONField()
    judge = serializers.UUIDField(source="judge_id")
    run = serializers.IntegerField(source="grading.run.number")
    job = serializers.UUIDField(source="job_id", allow_null=True)

    class Meta:
        model = Tryout
        fields = (
            "id",
            "document",
            "judge",
            "run",
            "seed",
            "thumbs",
            "budget",
            "looked_at",
            "job",
            "created_at",
            "finished_at",
        )


class TryoutRequestSerializer(PlainSerializer):
    """A rubric (`rubric.v1.json`; no version needed), the run whose cases it is tried on, and the judge asked."""

    document = serializers.DictField()
    run = serializers.IntegerField()
    judge = serializers.UUIDField()
    seed = serializers.CharField(required=False, default="", allow_blank=True, max_length=100)
    budget = serializers.FloatField(required=False, allow_null=True, default=None)
    thumbs = serializers.BooleanField(
        required=False, default=False, help_text="Whether cases with a thumb down by a rubric of that name come first."
    )


class TryoutAnswerSerializer(serializers.ModelSerializer[TryoutAnswer]):
    """An answer as it came."""

    answer = serializers.JSONField()

    class Meta:
        model = TryoutAnswer
        fields = ("value", "reason", "answer", "error", "answered_by", "cost", "input_tokens", "output_tokens")


class TriedCaseSerializer(serializers.Serializer[TriedCase]):
    """One case: the inputs of its questions, their answers (null where there is none), and what they come to."""

    id = serializers.UUIDField(source="case.pk")
    graded_case = serializers.UUIDField(source="case.case_id")
    verdict = serializers.CharField(source="now")
    value = serializers.FloatField(allow_null=True)
    questions = serializers.ListField(source="case.questions", child=serializers.DictField())
    answers = serializers.SerializerMethodField()

    def get_answers(self, case: TriedCase) -> list[dict[str, Any] | None]:
        return [self._answer(asked) for asked in case.questions]

    def _answer(self, asked: Asked) -> dict[str, Any] | None:
        return dict(TryoutAnswerSerializer(asked.answer).data) if asked.answer else None


class TriedSerializer(serializers.Serializer[Tried]):
    """The results of a try so far."""

    cost = serializers.FloatField(allow_null=True)
    hidden = serializers.IntegerField()
    cases = TriedCaseSerializer(many=True)


class Tryouts(ProjectView, ListAPIView[Tryout]):
    """The tries of rubrics, the newest first; by POST, one more."""

    serializer_class = TryoutSerializer
    queryset = Tryout.objects.none()

    def get_queryset(self) -> QuerySet[Tryout]:
        return (
            Tryout.objects.filter(untrashed("grading__run"), project=self.project)
            .select_related("grading__run")
            .order_by("-id")
        )

    @extend_schema(request=TryoutRequestSerializer, responses={201: TryoutSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = TryoutRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = dict(serializer.validated_data)
        runs = Run.objects.filter(project=self.project, number=data.pop("run"), grading__finished_at__isnull=False)
        if (run := runs.select_related("grading__run").first()) is None or run.grading is None:
            raise InvalidDocument.at("/run", "has no finished grading")
        judges = Judge.objects.in_project(self.project).select_related("project")
        if (judge := judges.filter(pk=data.pop("judge")).first()) is None:
            raise InvalidDocument.at("/judge", "is not a judge of this project")
        begin_request = TryoutRequest(judge=judge, grading=run.grading, **data)
        tryout = tryout_begin(project=self.project, actor=self.user, request=begin_request)
        return Response(TryoutSerializer(tryout).data, status=HTTPStatus.CREATED)


class TryoutDetail(ProjectView):
    """One try of a rubric."""

    @extend_schema(responses=TryoutSerializer)
    def get(self, request: Request, tryout: UUID) -> Response:
        rows = Tryout.objects.filter(untrashed("grading__run"), project=self.project).select_related("grading__run")
        return Response(TryoutSerializer(get_object_or_404(rows, pk=tryout)).data)


class TryoutCases(ProjectView):
    """Question, answer, value and cost of each case of a try, so far."""

    @extend_schema(responses=TriedSerializer)
    def get(self, request: Request, tryout: UUID) -> Response:
        return Response(TriedSerializer(tried(get_object_or_404(Tryout, project=self.project, pk=tryout))).data)
