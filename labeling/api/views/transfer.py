"""Files in and out."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.datasets import NewImportSerializer
from labeling.exports import dataset_lines, version_lines
from labeling.models import DatasetVersion
from toolevals.workspace.api.idempotency import idempotent
from toolevals.workspace.api.serializers import JobSerializer
from toolevals.workspace.models import Job
from toolevals.workspace.services import upload_store

JSON_LINES = "application/jsonl"
EXPORT = {(200, JSON_LINES): OpenApiTypes.BINARY}


class Imports(LabelingView):
    """Import a file of examples: by POST, a job that does it. All of the file, or nothing."""

    parser_classes = (MultiPartParser,)

    @extend_schema(request=NewImportSerializer, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request, dataset: str) -> Response:
        found = self.find_dataset(dataset)
        asked = NewImportSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        file = asked.validated_data["file"]
        upload = upload_store(project=self.project, actor=self.user, file=file, name=file.name)
        job = services.import_start(
            dataset=found, actor=self.user, upload=upload, source=asked.validated_data["format"]
        )
        shown = Job.objects.with_progress().get(pk=job.pk)
        return Response(JobSerializer(shown).data, status=HTTPStatus.ACCEPTED)


class Export(LabelingView):
    """All examples of a dataset as native JSON Lines, with the gold in force."""

    @extend_schema(responses=EXPORT)
    def get(self, request: Request, dataset: str) -> StreamingHttpResponse:
        found = self.find_dataset(dataset)
        return lines_response(dataset_lines(found), f"{found.slug}.jsonl")


class VersionExport(LabelingView):
    """A frozen version as native JSON Lines."""

    @extend_schema(responses=EXPORT)
    def get(self, request: Request, dataset: str, number: int) -> StreamingHttpResponse:
        versions = DatasetVersion.objects.in_project(self.project)
        version = get_object_or_404(versions, dataset__slug=dataset, number=number)
        return lines_response(version_lines(version), f"{version.dataset.slug}-{version.number}.jsonl")


def lines_response(lines: Iterator[bytes], name: str) -> StreamingHttpResponse:
    """Return lines as a download; `name` is made of slugs and numbers."""
    return StreamingHttpResponse(
        lines, content_type=JSON_LINES, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
