"""Serve imports and exports by REST.

A body that is a file of examples is streamed to disk. All its options are in the query.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.datasets import VersionNameField
from labeling.exports import FORMATS, ExportFormat, Outcome, Selection, format_named
from labeling.imports.detection import AUTO
from labeling.imports.formats import SOURCES
from labeling.queue.shown_strata import hidden_strata
from labeling.services.exports import HIDES_STRATA, KIND
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.api.parsers import JSON_LINES, StrictJsonParser, file_parsers
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.file_responses import stored_response
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.jobs.files import job_file
from toolevals.workspace.models import Job
from toolevals.workspace.uploads.services import upload_store

FILE_PARSERS = file_parsers(
    {
        **dict.fromkeys(JSON_LINES, "examples.jsonl"),
        "text/csv": "examples.csv",
        "application/gzip": "examples.gz",
        "application/zip": "examples.zip",
        # One JSON document, such as a simulator's results.
        "application/json": "examples.json",
    }
)
SOURCE_NAMES = [AUTO, *SOURCES]
FORMAT_NAMES = list(FORMATS)
EXPORT = {
    (200, "application/json"): OpenApiTypes.OBJECT,
    (200, "application/jsonl"): OpenApiTypes.BINARY,
    (200, "text/csv"): OpenApiTypes.BINARY,
    (200, "application/zip"): OpenApiTypes.BINARY,
}
# A file that a job has written; 410 when it is not there.
STORED = {(200, "application/octet-stream"): OpenApiTypes.BINARY, 410: None}
AS = OpenApiParameter("as", str, enum=list(FORMATS), description="By default jsonl.")
SUMMARY = OpenApiParameter(
    "summary", bool, description="In place of the file, how many examples it holds and which are left out, as JSON."
)
SOURCE = OpenApiParameter("source", str, enum=[AUTO, *SOURCES], description="The format, where the body is the file.")
OPTIONS = OpenApiParameter("options", str, description="The format's options as JSON, where the body is the file.")


class NewImportSerializer(serializers.Serializer[Any]):
    """A file of examples."""

    file = serializers.FileField()
    # A field's own `source` is another thing; declared fields are not attributes.
    source = serializers.ChoiceField(  # type: ignore[assignment]
        choices=SOURCE_NAMES, required=False, help_text="By default jsonl; auto finds it by what the file holds."
    )
    format = serializers.ChoiceField(choices=SOURCE_NAMES, required=False, help_text="Another name of source.")
    options = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="The format's options, a JSON object."
    )

    def validate_options(self, value: str) -> dict[str, Any]:
        if not value:
            return {}
        try:
            options = load_json(value)
        except InvalidDocument as error:
            raise serializers.ValidationError(str(error)) from None
        if not isinstance(options, dict):
            raise serializers.ValidationError("Must be a JSON object.")
        return options

    def chosen_source(self) -> str:
        """Return the format that is meant; the data is valid."""
        data = self.validated_data
        return str(data.get("source") or data.get("format") or "jsonl")

    def chosen_options(self) -> dict[str, Any]:
        """Return the format's options; the data is valid."""
        options: dict[str, Any] = self.validated_data["options"]
        return options


class NewExportSerializer(serializers.Serializer[Any]):
    """Says what to write."""

    format = serializers.ChoiceField(choices=FORMAT_NAMES, default="jsonl")
    version = VersionNameField(required=False, allow_null=True, default=None)


class Imports(LabelingView):
    """Import a file of examples: by POST, a job that does it. All of the file, or nothing.

    Send a form, or the file itself as the body with `?source=`.
    """

    parser_classes = (MultiPartParser, *FILE_PARSERS)

    @extend_schema(
        request={"multipart/form-data": NewImportSerializer, "application/octet-stream": OpenApiTypes.BINARY},
        responses={202: JobSerializer},
        parameters=[SOURCE, OPTIONS],
    )
    @idempotent
    def post(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = NewImportSerializer(data={**request.query_params.dict(), **_given(request)})
        serializer.is_valid(raise_exception=True)
        file = serializer.validated_data["file"]
        upload = upload_store(project=self.project, actor=self.user, file=file, name=file.name)
        job = services.import_start(
            dataset=dataset_row,
            actor=self.user,
            upload=upload,
            source=serializer.chosen_source(),
            options=serializer.chosen_options(),
        )
        return _accepted(job)


class ImportLines(LabelingView):
    """The result of each line of an import, as CSV: line, id, result, and findings; 410 when no longer kept."""

    @extend_schema(responses=STORED)
    def get(self, request: Request, job: UUID) -> StreamingHttpResponse:
        found = get_object_or_404(Job.objects.of_project(self.project), kind="import", pk=job)
        upload = services.import_lines_file(found)
        if upload is None:
            raise Problems(HTTPStatus.GONE, "The file is not there: the import is not done yet, or its days are over.")
        return stored_response(upload)


class Export(LabelingView):
    """All examples of a dataset with the gold in force, written while they are sent."""

    @extend_schema(responses=EXPORT, parameters=[AS, SUMMARY])
    def get(self, request: Request, dataset: str) -> StreamingHttpResponse | Response:
        found = self.find_dataset(dataset)
        return _export(request, Selection(found, hidden=hidden_strata(found, self.role)))


class VersionExport(LabelingView):
    """A frozen version, as Export gives the dataset."""

    @extend_schema(responses=EXPORT, parameters=[AS, SUMMARY])
    def get(self, request: Request, dataset: str, version: str) -> StreamingHttpResponse | Response:
        found = self.find_version(dataset, version)
        return _export(request, Selection(found.dataset, found))


class Exports(LabelingView):
    """Write a dataset or a frozen version to a file: by POST, a job whose report says what was left out."""

    parser_classes = (StrictJsonParser,)

    @extend_schema(request=NewExportSerializer, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = NewExportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        name = serializer.validated_data["version"]
        version = self.find_version(dataset, name) if name else None
        job = services.export_start(
            selection=Selection(dataset_row, version, hidden_strata(dataset_row, self.role)),
            actor=self.user,
            format=serializer.validated_data["format"],
        )
        return _accepted(job)


class ExportFile(LabelingView):
    """The file that an export's job has written; 410 when it is no longer kept."""

    @extend_schema(responses=STORED)
    def get(self, request: Request, export: UUID) -> StreamingHttpResponse:
        job = get_object_or_404(Job.objects.of_project(self.project), kind=KIND, pk=export)
        if not services.export_tells(job, self.role):
            raise Problems(HTTPStatus.FORBIDDEN, HIDES_STRATA)
        upload = job_file(job)
        if upload is None:
            raise Problems(HTTPStatus.GONE, "The file is not there: it is not written yet, or its day is over.")
        return stored_response(upload)


def _given(request: Request) -> dict[str, object]:
    return dict(request.data.items()) if isinstance(request.data, dict) else {}


def _accepted(job: Job) -> Response:
    shown = Job.objects.with_progress().get(pk=job.pk)
    return Response(JobSerializer(shown).data, status=HTTPStatus.ACCEPTED)


def _export(request: Request, selection: Selection) -> StreamingHttpResponse | Response:
    export_format: ExportFormat = format_named(request.query_params.get("as", "jsonl"))
    if "summary" not in request.query_params:
        return export_format.response(selection)
    outcome = Outcome()
    for _ in export_format.write(selection, outcome):
        pass
    return Response(outcome.to_document())
