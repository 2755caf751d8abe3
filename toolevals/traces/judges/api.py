"""Serves the judges of traces in the REST interface: has one asked, and changes how."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.runs.models import Judge
from toolevals.traces.judges.scores import trace_scores_use
from toolevals.traces.judges.services import (
    MOST_QUESTIONS_A_DAY,
    MOST_TOKENS_A_DAY,
    QUESTIONS_A_DAY,
    TraceJudgeRequest,
    trace_judge_set,
)
from toolevals.traces.models import SpanKind, TraceJudge
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer

_LIMITS = ("share", "most_questions", "most_tokens", "most_cost", "is_on")
_KIND = "The spans that it judges, each separately; empty for the whole trace. It never changes."


class TraceJudgeSerializer(serializers.ModelSerializer[TraceJudge]):
    """A judge that is asked about traces, and what it was asked today. `trouble` says why it cannot be reached."""

    judge = serializers.UUIDField(source="judge_id")
    name = serializers.CharField(source="judge.name")
    model = serializers.CharField(source="judge.model")
    rule = serializers.CharField(help_text="The name that its verdicts have.")
    questions_today = serializers.IntegerField()
    tokens_today = serializers.IntegerField()
    cost_today = serializers.FloatField(help_text="0 where the judge has no prices.")
    waiting = serializers.IntegerField(help_text="Questions that it will be asked, about traces or their spans.")
    not_judged_today = serializers.IntegerField(
        help_text="Questions about traces that came today that it will not be asked."
    )
    span_kind = serializers.ChoiceField(choices=SpanKind.choices, help_text=_KIND)

    class Meta:
        model = TraceJudge
        fields = (
            *(
                "judge",
                "name",
                "model",
                "rule",
                "span_kind",
                *_LIMITS,
                "questions_today",
                "tokens_today",
                "cost_today",
                "waiting",
            ),
            *("not_judged_today", "paused_until", "trouble", "created_at"),
        )


class TraceJudgeChangeSerializer(PlainSerializer):
    """Says how a judge is asked: `share` of the traces, 0 to 1, and at most so much a day, null for no limit."""

    share = serializers.FloatField()
    most_questions = serializers.IntegerField(min_value=1, max_value=MOST_QUESTIONS_A_DAY, default=QUESTIONS_A_DAY)
    most_tokens = serializers.IntegerField(min_value=1, max_value=MOST_TOKENS_A_DAY, allow_null=True, default=None)
    most_cost = serializers.FloatField(min_value=0, allow_null=True, default=None)
    is_on = serializers.BooleanField(default=True)


class TraceJudgeRequestSerializer(TraceJudgeChangeSerializer):
    """The same, with one of the project's judges."""

    judge = serializers.PrimaryKeyRelatedField(queryset=Judge.objects.none())
    span_kind = serializers.ChoiceField(choices=SpanKind.choices, allow_null=True, default=None, help_text=_KIND)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if project := self.context.get("project"):
            self.fields["judge"].queryset = Judge.objects.in_project(project)  # type: ignore[attr-defined]


class TraceJudges(ProjectView, ListAPIView[TraceJudge]):
    """Judges that are asked about traces; by POST, have one asked, or asked otherwise."""

    serializer_class = TraceJudgeSerializer
    queryset = TraceJudge.objects.none()

    def get_queryset(self) -> Any:
        return TraceJudge.objects.in_project(self.project).with_today()

    @extend_schema(request=TraceJudgeRequestSerializer, responses={201: TraceJudgeSerializer})
    def post(self, request: Request) -> Response:
        asked = TraceJudgeRequestSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        said = dict(asked.validated_data)
        judge = said.pop("judge")
        trace_judge_set(project=self.project, actor=self.user, judge=judge, request=TraceJudgeRequest(**said))
        found = self.get_queryset().get(judge=judge)
        return Response(TraceJudgeSerializer(found).data, status=HTTPStatus.CREATED)


class TraceScoresRequestSerializer(PlainSerializer):
    """Names the judge whose model gives the scores, asked as this judge asks it."""

    judge = serializers.PrimaryKeyRelatedField(queryset=Judge.objects.none())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if project := self.context.get("project"):
            self.fields["judge"].queryset = Judge.objects.in_project(project)  # type: ignore[attr-defined]


class TraceScores(ProjectView):
    """By POST, have each of the four scores of traces given that no judge gives so far."""

    @extend_schema(request=TraceScoresRequestSerializer, responses={201: TraceJudgeSerializer(many=True)})
    def post(self, request: Request) -> Response:
        asked = TraceScoresRequestSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        made = trace_scores_use(project=self.project, actor=self.user, like=asked.validated_data["judge"])
        rows = TraceJudge.objects.in_project(self.project).with_today().filter(pk__in=[each.pk for each in made])
        return Response(TraceJudgeSerializer(rows, many=True).data, status=HTTPStatus.CREATED)


class TraceJudgeDetail(ProjectView):
    """One judge of traces; by PATCH, changed."""

    def find(self, judge: UUID) -> TraceJudge:
        """Return the judge. Raises Http404."""
        found: TraceJudge = get_object_or_404(TraceJudge.objects.in_project(self.project).with_today(), judge=judge)
        return found

    @extend_schema(responses=TraceJudgeSerializer)
    def get(self, request: Request, trace_judge: UUID) -> Response:
        return Response(TraceJudgeSerializer(self.find(trace_judge)).data)

    @extend_schema(request=TraceJudgeChangeSerializer, responses=TraceJudgeSerializer)
    def patch(self, request: Request, trace_judge: UUID) -> Response:
        found = self.find(trace_judge)
        asked = TraceJudgeChangeSerializer(data=request.data, partial=True)
        asked.is_valid(raise_exception=True)
        said = {name: getattr(found, name) for name in _LIMITS} | dict(asked.validated_data)
        trace_judge_set(project=self.project, actor=self.user, judge=found.judge, request=TraceJudgeRequest(**said))
        return Response(TraceJudgeSerializer(self.find(trace_judge)).data)
