"""Serve exports by REST."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import STORED, LabelingView, job_accepted
from labeling.examples.shown_strata import hidden_strata
from labeling.exports import FORMATS, ExportFormat, Outcome, Selection, format_named
from labeling.exports.services import HIDES_STRATA, KIND, export_start, export_tells
from labeling.versions.api import VersionNameField
from toolevals.workspace.api.parsers import StrictJsonParser
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.file_responses import stored_response
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.jobs.files import job_file
from toolevals.workspace.models import Job

FORMAT_NAMES = list(FORMATS)


EXPORT = {
    (200, "application/json"): OpenApiTypes.OBJECT,
    (200, "application/jsonl"): OpenApiTypes.BINARY,
    (200, "text/csv"): OpenApiTypes.BINARY,
    (200, "application/zip"): OpenApiTypes.BINARY,
    (200, "application/vnd.apache.parquet"): OpenApiTypes.BINARY,
}


AS = OpenApiParameter("as", str, enum=list(FORMATS), description="By default jsonl.")


SUMMARY = OpenApiParameter(
    "summary", bool, description="In place of the file, how many examples it holds and which are left out, as JSON."
)


class NewExportSerializer(PlainSerializer):
    """Says what to write."""

    format = serializers.ChoiceField(choices=FORMAT_NAMES, default="jsonl")
    version = VersionNameField(required=False, allow_null=True, default=None)


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
        job = export_start(
            selection=Selection(dataset_row, version, hidden_strata(dataset_row, self.role)),
            actor=self.user,
            format=serializer.validated_data["format"],
        )
        return job_accepted(job)


class ExportFile(LabelingView):
    """The file that an export's job has written; 410 when it is no longer kept."""

    @extend_schema(responses=STORED)
    def get(self, request: Request, export: UUID) -> StreamingHttpResponse:
        job = get_object_or_404(Job.objects.of_project(self.project), kind=KIND, pk=export)
        if not export_tells(job, self.role):
            raise Problems(HTTPStatus.FORBIDDEN, HIDES_STRATA)
        upload = job_file(job)
        if upload is None:
            raise Problems(HTTPStatus.GONE, "The file is not ready yet or has expired.")
        return stored_response(upload)


def _export(request: Request, selection: Selection) -> StreamingHttpResponse | Response:
    export_format: ExportFormat = format_named(request.query_params.get("as", "jsonl"))
    if "summary" not in request.query_params:
        return export_format.response(selection)
    outcome = Outcome()
    for _ in export_format.write(selection, outcome):
        pass
    return Response(outcome.to_document())
