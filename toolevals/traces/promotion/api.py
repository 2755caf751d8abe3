"""Draw, show, make and undo samples of traces by REST, keep their schedules, and ask an agent the same today."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.models import Dataset
from toolevals.runs.models import Agent
from toolevals.traces.models import Period, Promotion, PromotionSchedule, Trace, Turns
from toolevals.traces.promotion.asking_today import TodayRequest, live_agents, today_start
from toolevals.traces.promotion.page import asked_words, is_told, planned_turns
from toolevals.traces.promotion.sampling import STRATA
from toolevals.traces.promotion.schedules import (
    MOST_EACH_TIME,
    MOST_WAITING,
    ScheduleRequest,
    schedule_add,
    schedule_remove,
    schedule_switch,
)
from toolevals.traces.promotion.services import (
    MOST,
    PromotionRequest,
    promotion_drop,
    promotion_make,
    promotion_start,
    promotion_undo,
)
from toolevals.traces.reading.filters import NAMES, TraceFilter
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.models import User
from toolevals.workspace.requests import page_number

STRATA_NAMES = [(name, words) for name, (words, _) in STRATA.items()]


class PromotionSerializer(serializers.ModelSerializer[Promotion]):
    """A sample of traces, and what became of it. `asked` says what was drawn, in words."""

    dataset = serializers.CharField(source="dataset.slug")
    asked = serializers.SerializerMethodField()
    job = serializers.UUIDField(source="job_id", allow_null=True)
    schedule = serializers.UUIDField(source="schedule_id", allow_null=True)
    left_out = serializers.ListField(
        child=serializers.DictField(), help_text="The first traces without an example, each with why."
    )

    class Meta:
        model = Promotion
        fields = (
            *("id", "dataset", "state", "asked", "job", "schedule", "drawn", "made", "folded", "left_out"),
            *("created_at", "ended_at"),
        )

    def get_asked(self, promotion: Promotion) -> str:
        """Return what was asked of it, as far as the reader may know it."""
        user: User = self.context["user"]
        return asked_words(promotion, user)


class PlannedTurnSerializer(PlainSerializer):
    """A turn of a sample that is not made: its text as its example will hold it."""

    place = serializers.IntegerField()
    request = serializers.CharField(allow_blank=True)
    earlier = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)), help_text="Pairs of role and words."
    )
    tools = serializers.ListField(child=serializers.CharField())
    alike = serializers.IntegerField(help_text="Turns that ask nearly the same and are folded into it.")
    is_scrubbed = serializers.BooleanField()
    damage = serializers.ListField(child=serializers.CharField(), help_text="What of its trace came cut.")


class PromotionDetailSerializer(PromotionSerializer):
    """A sample with a page of its texts, as long as it is drawn and not made."""

    turns = serializers.SerializerMethodField()

    class Meta:
        model = Promotion
        fields = (*PromotionSerializer.Meta.fields, "turns")

    @extend_schema_field(PlannedTurnSerializer(many=True))
    def get_turns(self, promotion: Promotion) -> list[dict[str, Any]]:
        """Return a page of the texts."""
        shown = planned_turns(promotion, self.context["page"]) if promotion.state == "drawn" else []
        return [asdict(each) for each in shown]


def filter_said(said: dict[str, str]) -> dict[str, str]:
    """Return a filter of traces as an address says it. Raises ValidationError for names and values that are none."""
    if unknown := sorted(set(said) - set(NAMES)):
        raise serializers.ValidationError(f"{unknown[0][:40]} is not one of {', '.join(NAMES)}")
    found = TraceFilter.of(said)
    if found.problems:
        raise serializers.ValidationError(next(iter(found.problems.values())))
    return found.said


class SampleRequestSerializer(PlainSerializer):
    """Reads what every sample is made of."""

    dataset = serializers.SlugRelatedField(slug_field="slug", queryset=Dataset.objects.none())
    filter = serializers.DictField(
        child=serializers.CharField(allow_blank=True), required=False, default=dict, help_text="As of the list."
    )
    turns = serializers.ChoiceField(choices=Turns.choices, default=Turns.EVERY)
    strata = serializers.MultipleChoiceField(choices=STRATA_NAMES, default={"calls"})

    def get_fields(self) -> dict[str, Any]:
        fields, project = super().get_fields(), self.context.get("project")
        if project is not None:
            fields["dataset"].queryset = Dataset.objects.in_project(project)  # type: ignore[attr-defined]
        return fields

    def validate_filter(self, said: dict[str, str]) -> dict[str, str]:
        """Refuse names and values that are none of a filter of traces."""
        return filter_said(said)

    def validate_strata(self, said: set[str]) -> tuple[str, ...]:
        """Return them in the order of the table."""
        return tuple(name for name in STRATA if name in said) or ("calls",)


class PromotionRequestSerializer(SampleRequestSerializer):
    """A sample to draw: `traces` by their ids, or `count` of a filter. With `look`, its texts wait to be seen.

    Without `takes_cut`, turns of traces that came cut are left out, or with `look` wait for it.
    """

    count = serializers.IntegerField(min_value=1, max_value=MOST, default=200)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=1)
    traces = serializers.ListField(child=serializers.UUIDField(), required=False, default=list, max_length=MOST)
    look = serializers.BooleanField(default=False)
    takes_cut = serializers.BooleanField(default=False)

    def validate_traces(self, ids: list[UUID]) -> tuple[UUID, ...]:
        """Refuse ids of no trace of the project."""
        known = set(Trace.objects.in_project(self.context["project"]).filter(pk__in=ids).values_list("pk", flat=True))
        if missing := [pk for pk in ids if pk not in known]:
            raise serializers.ValidationError(f"{missing[0]} is not a trace of this project")
        return tuple(dict.fromkeys(ids))

    def asked(self) -> PromotionRequest:
        said = dict(self.validated_data)
        return PromotionRequest(wanted=said.pop("filter"), shows_first=said.pop("look"), **said)


class Promotions(ProjectView, ListAPIView[Promotion]):
    """The project's samples of traces, the newest first; by POST, draw one."""

    serializer_class = PromotionSerializer
    queryset = Promotion.objects.none()

    def get_queryset(self) -> Any:
        return Promotion.objects.in_project(self.project)

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "user": self.user}

    @extend_schema(request=PromotionRequestSerializer, responses={202: PromotionSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        asked = PromotionRequestSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        made = promotion_start(request=asked.asked(), actor=self.user)
        return Response(PromotionSerializer(made, context={"user": self.user}).data, status=HTTPStatus.ACCEPTED)


class PromotionView(LabelingView):
    """Finds the sample for the views of one."""

    def find(self, promotion: UUID) -> Promotion:
        """Return the project's sample. Raises Http404."""
        return get_object_or_404(Promotion.objects.in_project(self.project).defer(None), pk=promotion)

    def acted(self, promotion: UUID, act: Callable[[Promotion], Promotion]) -> Response:
        """Return the sample after an act on it."""
        found = act(self.find(promotion))
        return Response(PromotionSerializer(found, context={"user": self.user}).data, status=HTTPStatus.ACCEPTED)


class PromotionDetail(PromotionView):
    """One sample, with its texts before it is made."""

    @extend_schema(
        parameters=[OpenApiParameter("page", int, description="Of the texts, from 1.")],
        responses=PromotionDetailSerializer,
    )
    def get(self, request: Request, promotion: UUID) -> Response:
        context = {"user": self.user, "page": page_number(request.query_params.get("page", "1"))}
        return Response(PromotionDetailSerializer(self.find(promotion), context=context).data)


class PromotionMakeSerializer(PlainSerializer):
    """Says whether turns of traces that came cut are made examples too: without it, a sample with such is refused."""

    takes_cut = serializers.BooleanField(default=False)


class PromotionMake(PromotionView):
    """Make the examples of a sample whose texts were shown."""

    @extend_schema(request=PromotionMakeSerializer, responses={202: PromotionSerializer})
    @idempotent
    def post(self, request: Request, promotion: UUID) -> Response:
        asked = PromotionMakeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        cut = asked.validated_data["takes_cut"]
        return self.acted(promotion, lambda found: promotion_make(promotion=found, actor=self.user, takes_cut=cut))


class PromotionDrop(PromotionView):
    """Drop a sample of which nothing was made."""

    @extend_schema(request=None, responses={202: PromotionSerializer})
    @idempotent
    def post(self, request: Request, promotion: UUID) -> Response:
        return self.acted(promotion, lambda found: promotion_drop(promotion=found, actor=self.user))


class PromotionUndo(PromotionView):
    """Delete the examples of a sample, as long as none of them is being labelled."""

    @extend_schema(request=None, responses={202: PromotionSerializer})
    @idempotent
    def post(self, request: Request, promotion: UUID) -> Response:
        return self.acted(promotion, lambda found: promotion_undo(promotion=found, actor=self.user))


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
        said = dict(self.validated_data)
        return ScheduleRequest(wanted=said.pop("filter"), **said)


class ScheduleSwitchSerializer(PlainSerializer):
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


class TodaySerializer(PlainSerializer):
    """The agent by its agent's id, the dataset, and the filter of the traces whose examples it is asked."""

    agent = serializers.PrimaryKeyRelatedField(queryset=Agent.objects.none())
    dataset = serializers.SlugRelatedField(slug_field="slug", queryset=Dataset.objects.none())
    filter = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False, default=dict)

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        project = self.context.get("project")
        if project is not None:
            fields["agent"].queryset = live_agents(project)  # type: ignore[attr-defined]
            fields["dataset"].queryset = Dataset.objects.in_project(project)  # type: ignore[attr-defined]
        return fields

    def validate_filter(self, said: dict[str, str]) -> dict[str, str]:
        """Refuse names and values that are none of a filter of traces."""
        return filter_said(said)


class Today(ProjectView):
    """Ask a live agent what production was asked; the job's result is the page of both runs."""

    @extend_schema(request=TodaySerializer, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        asked = TodaySerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        today = TodayRequest(dataset=said["dataset"], agent=said["agent"], wanted=said["filter"])
        job = today_start(request=today, actor=self.user, role=self.role)
        return Response(JobSerializer(job).data, status=HTTPStatus.ACCEPTED)
