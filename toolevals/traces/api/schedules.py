"""Start, switch and remove schedules that make examples of new traces, by REST."""

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

from toolevals.traces.api.promotions import SampleRequestSerializer
from toolevals.traces.models import Period, PromotionSchedule
from toolevals.traces.promotion_page import is_told
from toolevals.traces.services.promotion_schedules import (
    MOST_EACH_TIME,
    MOST_WAITING,
    ScheduleRequest,
    schedule_add,
    schedule_remove,
    schedule_switch,
)
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.idempotency import idempotent


class ScheduleSerializer(serializers.ModelSerializer[PromotionSchedule]):
    """A schedule that makes examples of new traces. `skipped` says why it made nothing when it was due last."""

    dataset = serializers.CharField(source="dataset.slug")
    filter = serializers.SerializerMethodField(help_text="Null where only its author may know it.")
    strata = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = PromotionSchedule
        fields = (
            *("id", "dataset", "period", "filter", "strata", "turns", "count", "most_waiting", "is_on", "due_at"),
            *("skipped", "created_at"),
        )

    def get_filter(self, schedule: PromotionSchedule) -> dict[str, str] | None:
        """Return the filter of the traces that examples are made of, as far as the reader may know it."""
        return dict(schedule.wanted) if is_told(schedule, self.context["user"]) else None


class ScheduleRequestSerializer(SampleRequestSerializer):
    """A schedule to start: at most `count` traces each time, and none while `most_waiting` examples wait for labels."""

    period = serializers.ChoiceField(choices=Period.choices, default=Period.DAILY)
    count = serializers.IntegerField(min_value=1, max_value=MOST_EACH_TIME, default=20)
    most_waiting = serializers.IntegerField(min_value=1, max_value=MOST_WAITING, default=200)

    def asked(self) -> ScheduleRequest:
        """Return what is asked for."""
        said = dict(self.validated_data)
        return ScheduleRequest(wanted=said.pop("filter"), **said)


class ScheduleSwitchSerializer(serializers.Serializer[Any]):
    """Reads whether a schedule is on."""

    is_on = serializers.BooleanField()


class Schedules(ProjectView, ListAPIView[PromotionSchedule]):
    """The project's schedules, the newest first; by POST, start one."""

    serializer_class = ScheduleSerializer
    queryset = PromotionSchedule.objects.none()

    def get_queryset(self) -> Any:
        return PromotionSchedule.objects.in_project(self.project)

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "user": self.user}

    @extend_schema(request=ScheduleRequestSerializer, responses={201: ScheduleSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        asked = ScheduleRequestSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        made = schedule_add(request=asked.asked(), actor=self.user)
        return Response(ScheduleSerializer(made, context={"user": self.user}).data, status=HTTPStatus.CREATED)


class ScheduleDetail(ProjectView):
    """One schedule: switched on or off by PATCH, removed by DELETE."""

    def find(self, schedule: UUID) -> PromotionSchedule:
        """Return the project's schedule. Raises Http404."""
        return get_object_or_404(PromotionSchedule.objects.in_project(self.project), pk=schedule)

    @extend_schema(responses=ScheduleSerializer)
    def get(self, request: Request, schedule: UUID) -> Response:
        return Response(ScheduleSerializer(self.find(schedule), context={"user": self.user}).data)

    @extend_schema(request=ScheduleSwitchSerializer, responses=ScheduleSerializer)
    def patch(self, request: Request, schedule: UUID) -> Response:
        asked = ScheduleSwitchSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        found = schedule_switch(schedule=self.find(schedule), actor=self.user, is_on=asked.validated_data["is_on"])
        return Response(ScheduleSerializer(found, context={"user": self.user}).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, schedule: UUID) -> Response:
        schedule_remove(schedule=self.find(schedule), actor=self.user)
        return Response(status=HTTPStatus.NO_CONTENT)
