"""Serve re-readings in the REST interface: draw, read, close, and read the results."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Grading, Reading, RereadCase, Rereading, Run, Said
from toolevals.runs.rereading.results import PEOPLE, VERDICTS, results_of
from toolevals.runs.rereading.services import (
    USUAL_SIZE,
    RereadingRequest,
    case_read,
    rereading_begin,
    rereading_cancel,
    rereading_close,
)
from toolevals.runs.rereading.shown_cases import case_inputs, judged_words
from toolevals.runs.rereading.tables import COLUMNS, reading_lines
from toolevals.runs.runs.serializers import CorrectedScoreSerializer, score_document
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.idempotency.api import idempotent


class RereadingSerializer(serializers.ModelSerializer[Rereading]):
    """A re-reading and how far it is. `corrected` is what came of it, null while it is open and if it was cancelled."""

    run = serializers.IntegerField(source="grading.run.number")
    grading = serializers.IntegerField(source="grading.number")
    drawn_from = serializers.DictField(child=serializers.IntegerField())
    size = serializers.IntegerField()
    readings = serializers.IntegerField(source="read")
    corrected = serializers.SerializerMethodField()

    class Meta:
        model = Rereading
        fields = (
            "id",
            "run",
            "grading",
            "readers",
            "seed",
            "drawn_from",
            "size",
            "readings",
            "created_at",
            "closed_at",
            "is_cancelled",
            "corrected",
        )

    @extend_schema_field(CorrectedScoreSerializer(allow_null=True))
    def get_corrected(self, rereading: Rereading) -> Any:
        return score_document(results_of(rereading))


class RereadingRequestSerializer(PlainSerializer):
    """A re-reading to be, of one of a run's gradings, by default the one that is shown."""

    grading = serializers.IntegerField(required=False, allow_null=True, default=None)
    passed = serializers.IntegerField(required=False, default=USUAL_SIZE)
    failed = serializers.IntegerField(required=False, default=USUAL_SIZE)
    readers = serializers.IntegerField(required=False, default=1)
    seed = serializers.CharField(required=False, default="", allow_blank=True, max_length=100)


class ReadingRequestSerializer(PlainSerializer):
    """The answer of a person who reads a case."""

    case = serializers.UUIDField()
    said = serializers.ChoiceField(choices=Said.choices)
    note = serializers.CharField(required=False, default="", allow_blank=True)


class ReadingSerializer(serializers.ModelSerializer[Reading]):
    """One person's reading."""

    case = serializers.UUIDField(source="case_id")

    class Meta:
        model = Reading
        fields = ("id", "case", "said", "note", "created_at")


class CaseToReadSerializer(serializers.Serializer[RereadCase]):
    """A case as its readers see it: what was said and done, without gold and verdict, and what they are to judge."""

    id = serializers.UUIDField()
    judge = serializers.SerializerMethodField()
    given = serializers.SerializerMethodField()

    def get_judge(self, case: RereadCase) -> str:
        return judged_words(case)

    @extend_schema_field(serializers.DictField())
    def get_given(self, case: RereadCase) -> dict[str, Any]:
        return case_inputs(case)


class RereadCaseSerializer(PlainSerializer):
    """One reading of a case, as a row of the file; of a closed re-reading each case has a row."""

    rereading_id = serializers.UUIDField()
    case_id = serializers.UUIDField()
    verdict = serializers.ChoiceField(choices=VERDICTS, allow_null=True)
    people = serializers.ChoiceField(choices=tuple(PEOPLE), allow_null=True)
    graded_case_id = serializers.UUIDField(allow_null=True)
    transcript_id = serializers.UUIDField(allow_null=True)
    revision_id = serializers.UUIDField(allow_null=True)
    external_id = serializers.CharField(allow_null=True)
    trial = serializers.IntegerField(allow_null=True)
    scored_trials = serializers.IntegerField(allow_null=True)
    reading_id = serializers.UUIDField(allow_null=True)
    reader = serializers.CharField(allow_null=True, help_text="For owners.")
    is_own = serializers.BooleanField(allow_null=True)
    said = serializers.ChoiceField(choices=Said.choices, allow_null=True)
    note = serializers.CharField(allow_null=True, allow_blank=True)
    read_at = serializers.DateTimeField(allow_null=True)


class RereadingView(ProjectView):
    """The base of the views of one re-reading."""

    def find(self, pk: UUID) -> Any:
        """Return the project's re-reading with its progress. Raises Http404."""
        return get_object_or_404(Rereading.objects.in_project(self.project).with_progress(), pk=pk)

    def shown(self, pk: UUID) -> Response:
        """Return the re-reading as it is now."""
        return Response(RereadingSerializer(self.find(pk)).data)


class Rereadings(ProjectView, ListAPIView[Rereading]):
    """A run's re-readings, the newest first; by POST, one more."""

    serializer_class = RereadingSerializer
    queryset = Rereading.objects.none()

    def get_queryset(self) -> QuerySet[Rereading]:
        rows: QuerySet[Rereading] = Rereading.objects.in_project(self.project).with_progress()
        return rows.filter(grading__run=self._run())

    @extend_schema(request=RereadingRequestSerializer, responses={201: RereadingSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        run = self._run()
        serializer = RereadingRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = dict(serializer.validated_data)
        begin_request = RereadingRequest(grading=self._grading(run, data.pop("grading")), **data)
        rereading = rereading_begin(request=begin_request, actor=self.user)
        shown = Rereading.objects.in_project(self.project).with_progress().get(pk=rereading.pk)
        return Response(RereadingSerializer(shown).data, status=HTTPStatus.CREATED)

    def _run(self) -> Run:
        run: Run = get_object_or_404(Run.objects.in_project(self.project), number=self.kwargs["number"])
        return run

    def _grading(self, run: Run, number: int | None) -> Grading:
        gradings = Grading.objects.filter(run=run, finished_at__isnull=False)
        rows = gradings.filter(number=number) if number else gradings.order_by("-number")
        if (grading := rows.select_related("run__project", "run__dataset_version").first()) is None:
            raise InvalidDocument.at("/grading", "is not a finished grading of this run")
        return grading


class RereadingDetail(RereadingView):
    """One re-reading, how far it is, and what came of it once it is closed."""

    @extend_schema(responses=RereadingSerializer)
    def get(self, request: Request, rereading: UUID) -> Response:
        return self.shown(rereading)


class RereadingEnd(RereadingView):
    """End a re-reading with the readings that it has."""

    @extend_schema(request=None, responses=RereadingSerializer)
    def post(self, request: Request, rereading: UUID) -> Response:
        rereading_close(rereading=self.find(rereading), actor=self.user)
        return self.shown(rereading)


class RereadingStop(RereadingView):
    """Cancel a re-reading: nothing comes of it."""

    @extend_schema(request=None, responses=RereadingSerializer)
    def post(self, request: Request, rereading: UUID) -> Response:
        rereading_cancel(rereading=self.find(rereading), actor=self.user)
        return self.shown(rereading)


class RereadCases(RereadingView):
    """The cases of a closed re-reading with what people said of each; 409 before, and where it was cancelled."""

    @extend_schema(
        parameters=[
            OpenApiParameter("verdict", str, enum=list(VERDICTS), description="Only cases of this verdict."),
            OpenApiParameter("said", str, enum=list(PEOPLE), description="Only cases of which most people say so."),
        ],
        responses={200: RereadCaseSerializer(many=True), 409: None},
    )
    def get(self, request: Request, rereading: UUID) -> Response:
        found = self.find(rereading)
        if not found.has_results:
            raise Problems(HTTPStatus.CONFLICT, "This re-reading is open or cancelled: its results are hidden.")
        asked = {name: request.query_params.get(name, "") for name in ("verdict", "said")}
        rows = reading_lines(found, self.user, self.role, **asked)
        return Response(RereadCaseSerializer([dict(zip(COLUMNS, row, strict=True)) for row in rows], many=True).data)


class Readings(RereadingView):
    """The next case that is left for this person to read, 204 where none is; by POST, what they say of one."""

    @extend_schema(responses={200: CaseToReadSerializer, 204: None})
    def get(self, request: Request, rereading: UUID) -> Response:
        case = self.find(rereading).cases.left_for(self.user).with_content().first()
        if case is None:
            return Response(status=HTTPStatus.NO_CONTENT)
        return Response(CaseToReadSerializer(case).data)

    @extend_schema(request=ReadingRequestSerializer, responses={201: ReadingSerializer})
    def post(self, request: Request, rereading: UUID) -> Response:
        serializer = ReadingRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = dict(serializer.validated_data)
        cases = self.find(rereading).cases.select_related("rereading__grading__run__project")
        case = get_object_or_404(cases, pk=data.pop("case"))
        reading = case_read(case=case, actor=self.user, **data)
        return Response(ReadingSerializer(reading).data, status=HTTPStatus.CREATED)
