"""Serve imports by REST.

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

from labeling.api.base import STORED, LabelingView, job_accepted
from labeling.imports.findings import import_lines_file
from labeling.imports.formats import AUTO, SOURCES
from labeling.imports.services import import_start
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.api.parsers import JSON_LINES, file_parsers
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.file_responses import stored_response
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
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
SOURCE = OpenApiParameter("source", str, enum=[AUTO, *SOURCES], description="The format, where the body is the file.")
OPTIONS = OpenApiParameter("options", str, description="The format's options as JSON, where the body is the file.")


class NewImportSerializer(PlainSerializer):
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
        job = import_start(
            dataset=dataset_row,
            actor=self.user,
            upload=upload,
            source=serializer.chosen_source(),
            options=serializer.chosen_options(),
        )
        return job_accepted(job)


class ImportLines(LabelingView):
    """The result of each line of an import, as CSV: line, id, result, and findings; 410 when no longer kept."""

    @extend_schema(responses=STORED)
    def get(self, request: Request, job: UUID) -> StreamingHttpResponse:
        found = get_object_or_404(Job.objects.of_project(self.project), kind="import", pk=job)
        upload = import_lines_file(found)
        if upload is None:
            raise Problems(HTTPStatus.GONE, "The file is not ready yet or has expired.")
        return stored_response(upload)


def _given(request: Request) -> dict[str, object]:
    return dict(request.data.items()) if isinstance(request.data, dict) else {}
