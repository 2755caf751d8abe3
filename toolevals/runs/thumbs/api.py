"""Serve thumbs on judgements in the REST interface."""

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

from toolevals.runs.models import CaseGrade, Judge, Thumb
from toolevals.runs.thumbs.services import thumb_give
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.models import within


class ThumbSerializer(serializers.ModelSerializer[Thumb]):
    """A thumb: `is_up` is null where it was taken back; one that is not current had its place taken by another."""

    case = serializers.UUIDField(source="case_id")
    judge = serializers.UUIDField(source="judge_id")
    person = serializers.CharField(source="person.name", default="")
    verdict = serializers.CharField(allow_null=True, help_text="What the judge said of the case.")

    class Meta:
        model = Thumb
        fields = ("id", "case", "rubric", "judge", "person", "is_up", "note", "is_current", "created_at", "verdict")


class ThumbRequestSerializer(PlainSerializer):
    """One's opinion of a judge's verdict by a rubric; null takes it back."""

    rubric = serializers.CharField(max_length=50)
    is_up = serializers.BooleanField(allow_null=True)
    note = serializers.CharField(required=False, default="", allow_blank=True)


class Thumbs(ProjectView, ListAPIView[Thumb]):
    """Every thumb that was given to a judge, the newest first."""

    serializer_class = ThumbSerializer
    queryset = Thumb.objects.none()

    def get_queryset(self) -> QuerySet[Thumb]:
        judge = get_object_or_404(Judge.objects.in_project(self.project), pk=self.kwargs["judge"])
        rows: QuerySet[Thumb] = Thumb.objects.on(judge).with_verdicts()
        return rows


class CaseThumbs(ProjectView):
    """Say what one thinks of a judge's verdict on a case."""

    @extend_schema(request=ThumbRequestSerializer, responses={201: ThumbSerializer})
    def post(self, request: Request, number: int, case: UUID) -> Response:
        cases = CaseGrade.objects.filter(within(self.project, "grading__run"), grading__run__number=number)
        row = get_object_or_404(cases.select_related("grading__run__project"), pk=case)
        serializer = ThumbRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        thumb = thumb_give(case=row, actor=self.user, **serializer.validated_data)
        return Response(ThumbSerializer(Thumb.objects.with_verdicts().get(pk=thumb.pk)).data, status=HTTPStatus.CREATED)
