"""Serve the rows of a run's long tables in the REST interface, in pages: the same columns as the files."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.api.reliability import InOrder
from reports.api.views import FILTERS, GRADING, RunReportView
from reports.cases.state import failed_by_state, state_of
from reports.cases.texts import READ, case_texts
from reports.filters.case_filters import COLUMNS, INJECTIONS, RECORDED, STATUSES
from reports.filters.reading import read_case_filter
from reports.queries.grading import listed_cases, with_gold
from reports.queries.judges import judged_rows
from reports.queries.metrics import values_of
from reports.tables import judges as judge_tables
from reports.tables import run as tables
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.runs.models import CaseGrade, JudgedCase
from toolevals.workspace.api.pagination import NewestFirst


class WhoseSerializer(serializers.Serializer[Any]):
    """The ids that join a row with labels, grades, judges' scores and traces; trials from 0."""

    case_id = serializers.UUIDField()
    transcript_id = serializers.UUIDField()
    revision_id = serializers.UUIDField()
    external_id = serializers.CharField()
    trial = serializers.IntegerField()


class GradedCaseSerializer(serializers.ModelSerializer[CaseGrade]):
    """One graded case, as a row of `cases.csv`."""

    case_id = serializers.UUIDField(source="pk")
    transcript_id = serializers.UUIDField()
    revision_id = serializers.UUIDField(source="transcript.entry.revision_id")
    external_id = serializers.CharField(source="transcript.entry.revision.example.external_id")
    trial = serializers.IntegerField(source="transcript.trial")
    ended = serializers.CharField(source="transcript.ended", allow_blank=True)
    answered_by = serializers.CharField(source="transcript.model", allow_blank=True)
    tokens_in = serializers.IntegerField(source="transcript.tokens_in", allow_null=True)
    tokens_out = serializers.IntegerField(source="transcript.tokens_out", allow_null=True)
    tokens_cached = serializers.IntegerField(source="transcript.tokens_cached", allow_null=True)
    cost = serializers.FloatField(source="transcript.cost", allow_null=True)
    latency_ms = serializers.FloatField(source="transcript.latency_ms", allow_null=True)
    metrics = serializers.SerializerMethodField()
    message = serializers.CharField(allow_blank=True)
    expected_calls = serializers.CharField(allow_blank=True, help_text="JSON, as are the next four.")
    expected_arguments = serializers.CharField(allow_blank=True)
    actual_calls = serializers.CharField(allow_blank=True)
    actual_arguments = serializers.CharField(allow_blank=True)
    reasons = serializers.CharField(allow_blank=True)

    class Meta:
        model = CaseGrade
        fields = (*tables.CASES, "metrics", *tables.TEXTS)

    def to_representation(self, instance: CaseGrade) -> dict[str, Any]:
        read = attrgetter(*(name.replace("__", ".") for name in READ))
        for name, text in zip(tables.TEXTS, case_texts(*read(instance)), strict=True):
            setattr(instance, name, text)
        return super().to_representation(instance)

    def get_metrics(self, case: CaseGrade) -> dict[str, float | None]:
        """The value of each metric, null where it has none."""
        return dict(zip(METRICS, values_of(self.context["grading"], case.measured), strict=True))


class JudgedRowSerializer(WhoseSerializer):
    """One judge's verdict on one case, as a row of `judged.csv`."""

    rubric = serializers.CharField()
    version = serializers.IntegerField()
    judge = serializers.CharField()
    model = serializers.CharField()
    pinned = serializers.BooleanField()
    status = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    flag = serializers.CharField(allow_blank=True)
    injection = serializers.CharField(allow_blank=True)


class StateDifferenceSerializer(serializers.Serializer[Any]):
    """One place where the state is another than the expected one; values as JSON, empty where there is nothing."""

    kind = serializers.CharField()
    record = serializers.CharField()
    path = serializers.CharField(allow_blank=True)
    expected = serializers.CharField(allow_blank=True)
    actual = serializers.CharField(allow_blank=True)


class StateCaseSerializer(WhoseSerializer):
    """One case that left another state: its rows of `state.csv`."""

    differences = StateDifferenceSerializer(many=True)


class ByTranscript(NewestFirst):
    """Pages in the order of the file."""

    ordering = "transcript_id"


@extend_schema_view(
    get=extend_schema(
        parameters=[
            *FILTERS,
            OpenApiParameter("expected", str, description="Only cases that expected this class."),
            OpenApiParameter("actual", str, description="Only cases that called this class."),
            OpenApiParameter("mode", str, description="Only cases that failed so."),
            OpenApiParameter("ended", str, description="Only cases whose conversation ended so."),
            OpenApiParameter(
                "injection", str, enum=list(INJECTIONS), description="Only with text that speaks to a judge."
            ),
            OpenApiParameter(
                "recorded", str, enum=list(RECORDED), description="Only trials that their source rewarded so."
            ),
            OpenApiParameter("column", str, description=f"With `status`: {', '.join(COLUMNS)}, or `judged:` a rubric."),
            OpenApiParameter("status", str, enum=list(STATUSES)),
        ]
    )
)
class GradedCasesView(RunReportView, ListAPIView[CaseGrade]):
    """The graded cases of a run, in pages, filtered as on the pages and in the files."""

    serializer_class = GradedCaseSerializer
    pagination_class = ByTranscript
    queryset = CaseGrade.objects.none()

    def get_serializer_context(self) -> dict[str, Any]:
        context = dict(super().get_serializer_context())
        # A reader of the interface's description asks for no run.
        if "number" in self.kwargs:
            context["grading"] = self.grading(self.kwargs["number"])
        return context

    def get_queryset(self) -> QuerySet[CaseGrade]:
        choice = read_case_filter(self.request.query_params)
        grading = self.grading(self.kwargs["number"])
        cases = with_gold(listed_cases(grading, choice), grading)
        return cases.select_related("transcript__entry__revision__example")


class JudgedCasesView(RunReportView, ListAPIView[JudgedCase]):
    """Every judge's verdict on every case of a run, in pages; `hidden` while people rate the example."""

    serializer_class = JudgedRowSerializer
    pagination_class = InOrder
    queryset = JudgedCase.objects.none()

    @extend_schema(parameters=[GRADING])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        grading = self.grading(self.kwargs["number"])
        page = self.paginate_queryset(JudgedCase.objects.for_export(grading)) or []
        rows = [dict(zip(judge_tables.JUDGED, row, strict=True)) for row in judged_rows(grading, page)]
        return self.get_paginated_response(JudgedRowSerializer(rows, many=True).data)


class StateDifferencesView(RunReportView, ListAPIView[CaseGrade]):
    """The cases of a run whose calls left another state than the expected one, in pages."""

    serializer_class = StateCaseSerializer
    pagination_class = InOrder
    queryset = CaseGrade.objects.none()

    @extend_schema(parameters=[GRADING])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        page = self.paginate_queryset(failed_by_state(self.grading(self.kwargs["number"]))) or []
        return self.get_paginated_response(StateCaseSerializer(list(map(_state_case, page)), many=True).data)


def _state_case(case: CaseGrade) -> dict[str, Any]:
    whose, differences = state_of(case)
    split = len(whose)
    named = [dict(zip(tables.STATE[split:], difference, strict=True)) for difference in differences]
    return dict(zip(tables.STATE[:split], whose, strict=True)) | {"differences": named}
