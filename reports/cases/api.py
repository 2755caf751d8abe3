"""Serve the rows of cases in the REST interface, in pages, with their tags and notes."""

from __future__ import annotations

from http import HTTPStatus
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.cases.queries import case_or_404, listed_cases, remark_page, with_gold
from reports.cases.table import (
    CASES,
    DIFFERENCES,
    JUDGED,
    READ,
    REMARKS,
    STATE,
    TEXTS,
    case_texts,
    failed_by_state,
    state_of,
)
from reports.filters.case_filters import COLUMNS, INJECTIONS, RECORDED, STATUSES, read_case_filter
from reports.judges.queries import judged_rows
from reports.run.api import FILTERS, GRADING, InOrder, RunReportView
from reports.run.metrics import values_of
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.runs.models import CaseGrade, JudgedCase
from toolevals.runs.remarks.services import note_add, tag_add, tag_remove
from toolevals.workspace.api.base import NewestFirst, ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.mentions.names import text_named
from toolevals.workspace.requests import whole_number
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


REMARK_KINDS = ("tag", "note")


class RemarkPageSerializer(PlainSerializer):
    """A page of remarks, tags before notes; `next` goes on after it, null at the end."""

    next = serializers.CharField(allow_null=True)
    results = serializer_of(REMARKS)(many=True)


class CaseRemarkSerializer(PlainSerializer):
    """A tag or a note on a case."""

    id = serializers.UUIDField(source="pk")
    kind = serializers.ChoiceField(REMARK_KINDS)
    text = serializers.CharField()
    person = serializers.CharField(source="actor.name", default="")
    created_at = serializers.DateTimeField()


class CaseRemarksSerializer(PlainSerializer):
    """Everything that people say of a case."""

    tags = CaseRemarkSerializer(many=True)
    notes = CaseRemarkSerializer(many=True)


class RemarkRequestSerializer(PlainSerializer):
    """A remark on a case: `text` is a tag's word or a note."""

    kind = serializers.ChoiceField(REMARK_KINDS)
    text = serializers.CharField()


class RemarksView(RunReportView):
    """Every tag and note on the cases of a run, in pages."""

    @extend_schema(
        parameters=[GRADING, OpenApiParameter("after", str, description="The `next` of the previous page.")],
        responses=RemarkPageSerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        page = remark_page(self.grading(number), request.query_params.get("after", ""))
        rows = [dict(zip(REMARKS.head, row, strict=True)) for row in page.rows]
        more = None
        if page.after:
            grading = request.query_params.get("grading", "")
            query = f"after={page.after}" + (f"&grading={grading}" if whole_number(grading) is not None else "")
            more = f"{request.build_absolute_uri(request.path)}?{query}"
        return Response(RemarkPageSerializer({"next": more, "results": rows}).data)


class CaseRemarksView(ProjectView):
    """The tags and notes of one case, and the way to add one or take a tag off."""

    @extend_schema(responses=CaseRemarksSerializer)
    def get(self, request: Request, number: int, case_id: UUID) -> Response:
        transcript = case_or_404(self.project, number, case_id).transcript
        tags = [_said(each, "tag", each.tag) for each in transcript.tags.select_related("actor")]
        notes = [_said(each, "note", text_named(each.text)) for each in transcript.notes.select_related("actor")]
        return Response(CaseRemarksSerializer({"tags": tags, "notes": notes}).data)

    @extend_schema(request=RemarkRequestSerializer, responses={201: CaseRemarkSerializer})
    def post(self, request: Request, number: int, case_id: UUID) -> Response:
        transcript = case_or_404(self.project, number, case_id).transcript
        serializer = RemarkRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        kind, text = (serializer.validated_data[name] for name in ("kind", "text"))
        if kind == "tag":
            tag = tag_add(transcript=transcript, actor=self.user, tag=text)
            said = _said(tag, kind, tag.tag)
        else:
            note = note_add(transcript=transcript, actor=self.user, text=text)
            said = _said(note, kind, text_named(note.text))
        return Response(CaseRemarkSerializer(said).data, status=HTTPStatus.CREATED)

    @extend_schema(
        parameters=[OpenApiParameter("tag", str, required=True, description="The word to take off.")],
        responses={204: None},
    )
    def delete(self, request: Request, number: int, case_id: UUID) -> Response:
        transcript = case_or_404(self.project, number, case_id).transcript
        tag_remove(transcript=transcript, actor=self.user, tag=request.query_params.get("tag", ""))
        return Response(status=HTTPStatus.NO_CONTENT)


def _said(remark: Any, kind: str, text: str) -> dict[str, Any]:
    return {"pk": remark.pk, "kind": kind, "text": text, "actor": remark.actor, "created_at": remark.created_at}
