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
from reports.tables.cases import CASES, DIFFERENCES, JUDGED, STATE, TEXTS
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.runs.models import CaseGrade, JudgedCase
from toolevals.workspace.api.base import NewestFirst
from toolevals.workspace.tables import serializer_of


class GradedCaseSerializer(serializers.ModelSerializer[CaseGrade]):
    """One graded case, as a row of `cases.csv`."""

    metrics = serializers.SerializerMethodField()

    class Meta:
        model = CaseGrade
        fields = ("metrics",)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        case, texts = serializer_of(CASES, CaseGrade)(), serializer_of(TEXTS)()
        return case.get_fields() | super().get_fields() | texts.get_fields()

    def to_representation(self, instance: CaseGrade) -> dict[str, Any]:
        read = attrgetter(*(name.replace("__", ".") for name in READ))
        for name, text in zip(TEXTS.head, case_texts(*read(instance)), strict=True):
            setattr(instance, name, text)
        return super().to_representation(instance)

    def get_metrics(self, case: CaseGrade) -> dict[str, float | None]:
        """The value of each metric, null where it has none."""
        return dict(zip(METRICS, values_of(self.context["grading"], case.measured), strict=True))


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

    serializer_class = serializer_of(JUDGED)
    pagination_class = InOrder
    queryset = JudgedCase.objects.none()

    @extend_schema(parameters=[GRADING])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        grading = self.grading(self.kwargs["number"])
        page = self.paginate_queryset(JudgedCase.objects.for_export(grading)) or []
        rows = [dict(zip(JUDGED.head, row, strict=True)) for row in judged_rows(grading, page)]
        return self.get_paginated_response(serializer_of(JUDGED)(rows, many=True).data)


class StateDifferencesView(RunReportView, ListAPIView[CaseGrade]):
    """The cases of a run whose calls left another state than the expected one, in pages."""

    serializer_class = serializer_of(STATE)
    pagination_class = InOrder
    queryset = CaseGrade.objects.none()

    @extend_schema(parameters=[GRADING])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        page = self.paginate_queryset(failed_by_state(self.grading(self.kwargs["number"]))) or []
        return self.get_paginated_response(serializer_of(STATE)(list(map(_state_case, page)), many=True).data)


def _state_case(case: CaseGrade) -> dict[str, Any]:
    whose, differences = state_of(case)
    named = [dict(zip(DIFFERENCES.head, difference, strict=True)) for difference in differences]
    return dict(zip(STATE.head, whose, strict=False)) | {"differences": named}
