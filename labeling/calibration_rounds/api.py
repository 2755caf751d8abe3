"""Serve calibration rounds by REST: list, open, answer, close, results."""

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

from labeling.agreement.api import FigureSerializer
from labeling.api.base import LabelingView
from labeling.calibration_rounds.results import progress_in, results_of
from labeling.calibration_rounds.services import (
    MOST_ITEMS,
    USUAL_SIZE,
    calibration_answer,
    calibration_close,
    calibration_open,
)
from labeling.models import CalibrationAnswer, CalibrationItem, CalibrationRound, LabelAnswer
from toolevals.grading.metrics.rates import wilson
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.serializers import IntervalSerializer
from toolevals.workspace.models import within


class CalibrationSerializer(serializers.ModelSerializer[CalibrationRound]):
    """A round; `size` examples are asked for now, of which oneself has answered `answered`."""

    size = serializers.IntegerField(read_only=True)
    answered = serializers.IntegerField(source="own", read_only=True)

    class Meta:
        model = CalibrationRound
        fields = ("id", "name", "size", "answered", "comes_first", "created_at", "closed_at")


class PersonProgressSerializer(PlainSerializer):
    """Says how far a person is."""

    name = serializers.CharField()
    is_self = serializers.BooleanField()
    answered = serializers.IntegerField(source="done")
    size = serializers.IntegerField(source="total")


class CalibrationDetailSerializer(CalibrationSerializer):
    """A round with how far people are: everyone for owners, oneself for others."""

    progress = PersonProgressSerializer(many=True)

    class Meta(CalibrationSerializer.Meta):
        fields = (*CalibrationSerializer.Meta.fields, "progress")  # type: ignore[assignment]


class NewCalibrationSerializer(PlainSerializer):
    """A round of the solved examples of these names, or of `size` proposed ones where none is named."""

    name = serializers.CharField(max_length=120)
    names = serializers.ListField(child=serializers.CharField(max_length=200), max_length=MOST_ITEMS, default=list)
    size = serializers.IntegerField(min_value=1, max_value=MOST_ITEMS, default=USUAL_SIZE)
    comes_first = serializers.BooleanField(default=False)


class CalibrationItemSerializer(serializers.ModelSerializer[CalibrationItem]):
    """One example of a round that is still to be answered, with what is asked. The gold is not in it."""

    external_id = serializers.CharField(source="revision.example.external_id")
    input = serializers.JSONField(source="revision.input")
    tools = serializers.SerializerMethodField()

    class Meta:
        model = CalibrationItem
        fields = ("id", "position", "external_id", "revision", "input", "tools")

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_tools(self, item: CalibrationItem) -> list[dict[str, Any]]:
        return [spec.to_document() for spec in tools_in(item.revision.tools)]


class NewCalibrationAnswerSerializer(PlainSerializer):
    """An answer in the form of a label."""

    answer = serializers.ChoiceField(choices=LabelAnswer.choices, default=LabelAnswer.EXPECTATION)
    expectation = serializers.JSONField(default=None, allow_null=True)
    rationale = serializers.CharField(allow_blank=True, default="")
    seconds = serializers.FloatField(default=0, min_value=0, max_value=86_400)


class CalibrationAnswerSerializer(serializers.ModelSerializer[CalibrationAnswer]):
    """One's own answer."""

    expectation = serializers.JSONField(allow_null=True)

    class Meta:
        model = CalibrationAnswer
        fields = ("id", "item", "answer", "expectation", "rationale", "seconds", "created_at")


class AgreementSerializer(PlainSerializer):
    """On how many of the examples that two or more answered all said the same; `interval` is Wilson's."""

    title = serializers.CharField()
    alike = serializers.IntegerField()
    counted = serializers.IntegerField()
    interval = serializers.SerializerMethodField()
    alpha = FigureSerializer()

    @extend_schema_field(IntervalSerializer(allow_null=True))
    def get_interval(self, one: Any) -> dict[str, float] | None:
        return _wilson(one.alike, one.counted)


class PersonResultSerializer(PlainSerializer):
    """Counts a person's answers that mean what the gold does; `interval` is Wilson's."""

    name = serializers.CharField()
    is_self = serializers.BooleanField()
    right = serializers.IntegerField()
    answered = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    interval = serializers.SerializerMethodField()

    @extend_schema_field(IntervalSerializer(allow_null=True))
    def get_interval(self, one: Any) -> dict[str, float] | None:
        return _wilson(one.right, one.answered)


class SplitSerializer(PlainSerializer):
    """Answers of one meaning; `names` are for owners, and empty for others."""

    answer = serializers.CharField(source="said.answer")
    expectation = serializers.JSONField(source="said.expectation", allow_null=True)
    count = serializers.IntegerField()
    as_gold = serializers.BooleanField(source="is_gold")
    is_own = serializers.BooleanField()
    rationales = serializers.ListField(child=serializers.CharField())
    names = serializers.ListField(child=serializers.CharField())


class ItemResultSerializer(PlainSerializer):
    """Shows how the answers to one example split, and which is right."""

    id = serializers.UUIDField(source="item.pk")
    position = serializers.IntegerField(source="item.position")
    example = serializers.UUIDField(source="item.revision.example_id")
    external_id = serializers.CharField(source="item.revision.example.external_id")
    gold_answer = serializers.CharField(source="gold.answer")
    gold = serializers.JSONField(source="gold.expectation", allow_null=True)
    splits = SplitSerializer(many=True)


class ResultsSerializer(PlainSerializer):
    """Holds the results of a round. `people` are everyone for owners, oneself for others."""

    raters = serializers.IntegerField()
    agreements = AgreementSerializer(many=True)
    people = PersonResultSerializer(many=True)
    items = ItemResultSerializer(many=True)


def _wilson(part: int, whole: int) -> dict[str, float] | None:
    if not whole:
        return None
    interval = wilson(part, whole)
    return {"low": interval.low, "high": interval.high}


class CalibrationView(LabelingView):
    """The base of the views of one round."""

    def find_round(self, pk: UUID) -> CalibrationRound:
        """Return the project's round, with one's own progress. Raises Http404."""
        rows = CalibrationRound.objects.in_project(self.project).with_progress(self.user)
        return get_object_or_404(rows.select_related("dataset__project"), pk=pk)


class Calibrations(CalibrationView, ListAPIView[CalibrationRound]):
    """A dataset's calibration rounds, newest first; by POST, another."""

    serializer_class = CalibrationSerializer
    queryset = CalibrationRound.objects.none()

    def get_queryset(self) -> QuerySet[CalibrationRound]:
        dataset = self.find_dataset(self.kwargs["dataset"])
        return CalibrationRound.objects.in_scope(dataset).with_progress(self.user)

    @extend_schema(request=NewCalibrationSerializer, responses={201: CalibrationSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        found, asked = self.find_dataset(dataset), NewCalibrationSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        opened = calibration_open(dataset=found, actor=self.user, **asked.validated_data)
        return Response(CalibrationSerializer(self.find_round(opened.pk)).data, status=HTTPStatus.CREATED)


class CalibrationDetail(CalibrationView):
    """One round, and how far people are with it."""

    @extend_schema(responses=CalibrationDetailSerializer)
    def get(self, request: Request, calibration: UUID) -> Response:
        round_row = self.find_round(calibration)
        vars(round_row)["progress"] = progress_in(round_row, self.user, self.role)
        return Response(CalibrationDetailSerializer(round_row).data)


class CalibrationClose(CalibrationView):
    """End a round: its results are for everyone who labels."""

    @extend_schema(request=None, responses=CalibrationSerializer)
    def post(self, request: Request, calibration: UUID) -> Response:
        calibration_close(calibration=self.find_round(calibration), actor=self.user)
        return Response(CalibrationSerializer(self.find_round(calibration)).data)


class CalibrationItems(CalibrationView, ListAPIView[CalibrationItem]):
    """The examples of an open round that one has still to answer, in their order, without their gold."""

    serializer_class = CalibrationItemSerializer
    queryset = CalibrationItem.objects.none()
    pagination_class = None

    def get_queryset(self) -> QuerySet[CalibrationItem]:
        round_row = self.find_round(self.kwargs["calibration"])
        items = CalibrationItem.objects.filter(round=round_row).left_for(self.user).with_content()
        return items.none() if round_row.closed_at else items


class CalibrationAnswers(CalibrationView):
    """Answer one example of a round, once. Sent twice, it is stored once."""

    @extend_schema(request=NewCalibrationAnswerSerializer, responses={201: CalibrationAnswerSerializer})
    def post(self, request: Request, item: UUID) -> Response:
        rows = CalibrationItem.objects.filter(within(self.project, "round__dataset")).with_content()
        serializer = NewCalibrationAnswerSerializer(data=request.data)
        found = get_object_or_404(rows, pk=item)
        serializer.is_valid(raise_exception=True)
        given = calibration_answer(item=found, actor=self.user, **serializer.validated_data)
        return Response(CalibrationAnswerSerializer(given).data, status=HTTPStatus.CREATED)


class CalibrationResults(CalibrationView):
    """The results of a round; 409 for a person who has answers left in it while it is open."""

    @extend_schema(responses={200: ResultsSerializer, 409: None})
    def get(self, request: Request, calibration: UUID) -> Response:
        return Response(ResultsSerializer(results_of(self.find_round(calibration), self.user, self.role)).data)
