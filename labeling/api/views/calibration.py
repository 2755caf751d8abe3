"""Serve calibration rounds by REST: list, open, answer, close, results."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.calibration import (
    CalibrationAnswerSerializer,
    CalibrationDetailSerializer,
    CalibrationItemSerializer,
    CalibrationSerializer,
    NewCalibrationAnswerSerializer,
    NewCalibrationSerializer,
    ResultsSerializer,
)
from labeling.calibration.progress import progress_in
from labeling.calibration.results import results_of
from labeling.models import CalibrationItem, CalibrationRound
from toolevals.workspace.models import within


class CalibrationView(LabelingView):
    """What the views of one round share."""

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
        return CalibrationRound.objects.in_place(dataset).with_progress(self.user)

    @extend_schema(request=NewCalibrationSerializer, responses={201: CalibrationSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        found, asked = self.find_dataset(dataset), NewCalibrationSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        opened = services.calibration_open(dataset=found, actor=self.user, **asked.validated_data)
        return Response(CalibrationSerializer(self.find_round(opened.pk)).data, status=HTTPStatus.CREATED)


class CalibrationDetail(CalibrationView):
    """One round, and how far people are with it."""

    @extend_schema(responses=CalibrationDetailSerializer)
    def get(self, request: Request, calibration: UUID) -> Response:
        round_row = self.find_round(calibration)
        vars(round_row)["progress"] = progress_in(round_row, self.user, self.role)
        return Response(CalibrationDetailSerializer(round_row).data)


class CalibrationClose(CalibrationView):
    """End a round: its results are for everybody who labels."""

    @extend_schema(request=None, responses=CalibrationSerializer)
    def post(self, request: Request, calibration: UUID) -> Response:
        services.calibration_close(calibration=self.find_round(calibration), actor=self.user)
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
        given = services.calibration_answer(item=found, actor=self.user, **serializer.validated_data)
        return Response(CalibrationAnswerSerializer(given).data, status=HTTPStatus.CREATED)


class CalibrationResults(CalibrationView):
    """What came of a round; 409 for who has still to answer some of it while it is open."""

    @extend_schema(responses={200: ResultsSerializer, 409: None})
    def get(self, request: Request, calibration: UUID) -> Response:
        return Response(ResultsSerializer(results_of(self.find_round(calibration), self.user, self.role)).data)
