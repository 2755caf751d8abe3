"""Serve other evaluators' verdicts in the REST interface: the same analysis as the page and the files."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.db.models import F, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.cases.queries import listed_cases
from reports.dialects.analysis import AGREE, DIFFER, Dialects, PairRow
from reports.dialects.grade_with_dialects import dialects_read, dialects_start
from reports.dialects.queries import IDS, dialects_shown, said_of
from reports.dialects.table import DIALECTS, PAIRS
from reports.filters.case_filters import STATUSES, read_case_filter
from reports.models import DialectCase, DialectReading
from reports.run.api import GRADING, RunReportView
from toolevals.workspace.api.base import NewestFirst
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.tables import serializer_of


class DialectsSerializer(PlainSerializer):
    """Other tools' verdicts on a grading's cases. All but the two first is null until every case is read."""

    finished_at = serializers.DateTimeField(allow_null=True)
    job = serializers.UUIDField(allow_null=True, help_text="Reads the cases, or has read them.")
    cases = serializers.IntegerField(allow_null=True)
    tools = serializer_of(DIALECTS)(many=True, allow_null=True)
    pairs = serializers.SerializerMethodField()

    @extend_schema_field(serializer_of(PAIRS)(many=True, allow_null=True))
    def get_pairs(self, document: dict[str, Any]) -> Any:
        pairs: list[PairRow] | None = document["pairs"]
        return None if pairs is None else serializer_of(PAIRS)(pairs, many=True).data


def _document(reading: DialectReading | None) -> dict[str, Any]:
    dialects: Dialects | None = dialects_shown(reading) if reading and reading.finished_at else None
    return {
        "finished_at": reading.finished_at if reading else None,
        "job": reading.job_id if reading else None,
        "cases": dialects.cases if dialects else None,
        "tools": dialects.tools if dialects else None,
        "pairs": list(dialects.pairs) if dialects else None,
    }


class DialectsView(RunReportView):
    """Other tools' verdicts on a run's calls; by POST, have the cases of a large run read by their rules."""

    @extend_schema(parameters=[GRADING], responses=DialectsSerializer)
    def get(self, request: Request, number: int) -> Response:
        return Response(DialectsSerializer(_document(dialects_read(self.grading(number)))).data)

    @extend_schema(parameters=[GRADING], request=None, responses={202: DialectsSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        grading = self.grading(number)
        reading = dialects_read(grading) or dialects_start(grading=grading, actor=self.user)
        return Response(DialectsSerializer(_document(reading)).data, status=HTTPStatus.ACCEPTED)


class SaidSerializer(PlainSerializer):
    """One tool's verdict; `reason` names why it is another than ours, `said` is what the tool says itself."""

    tool = serializers.CharField(source="key")
    status = serializers.CharField(source="verdict.status")
    score = serializers.FloatField(source="verdict.score", allow_null=True)
    reason = serializers.CharField(source="verdict.reason")
    said = serializers.CharField(source="verdict.said")


class DialectCaseSerializer(serializers.Serializer[DialectCase]):
    """Every tool's verdict on one case, ours first."""

    case_id = serializers.UUIDField()
    transcript_id = serializers.UUIDField()
    revision_id = serializers.UUIDField()
    external_id = serializers.CharField()
    trial = serializers.IntegerField()
    verdicts = serializers.SerializerMethodField()

    @extend_schema_field(SaidSerializer(many=True))
    def get_verdicts(self, kept: DialectCase) -> Any:
        return SaidSerializer(said_of(kept), many=True).data


@extend_schema_view(
    get=extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("by", str, description="A tool's key, with `said`."),
            OpenApiParameter("beside", str, description="Another tool's key; by default `ours`."),
            OpenApiParameter(
                "said", str, enum=[*STATUSES, AGREE, DIFFER], description="Its verdict, or how both stand."
            ),
            OpenApiParameter("rule", str, description="With `said=differ`: only for this reason."),
        ],
        responses={200: DialectCaseSerializer(many=True), 409: None},
    )
)
class DialectCasesView(RunReportView, ListAPIView[DialectCase]):
    """Every tool's verdict on each case of a run, in pages; 409 until they are read."""

    serializer_class = DialectCaseSerializer
    pagination_class = NewestFirst
    queryset = DialectCase.objects.none()

    def get_queryset(self) -> QuerySet[DialectCase]:
        reading = dialects_read(self.grading(self.kwargs["number"]))
        if reading is None or reading.finished_at is None:
            raise Problems(
                HTTPStatus.CONFLICT, "Other evaluators have not graded these cases yet: start them, or wait."
            )
        choice = read_case_filter(self.request.query_params)
        ids = {name: F(path) for name, path in IDS.items() if name != path}
        rows = DialectCase.objects.filter(reading=reading).select_related("reading").annotate(**ids)
        return rows.filter(case__in=listed_cases(reading.grading, choice).values("pk")) if choice.by else rows
