"""Serve the zip of a run and its long tables as files in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reports.downloads.long_tables import CSV, PARQUET, TABLES, read_table_request
from reports.downloads.services import BUNDLE, TABLE, bundle_start, table_belongs, table_start
from reports.run.api import GRADING, RunReportView
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.file_responses import stored_response
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.jobs.files import job_file
from toolevals.workspace.models import Job


class BundleView(RunReportView):
    """Everything about a run as one zip, written by a job."""

    @extend_schema(parameters=[GRADING], request=None, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        job = bundle_start(grading=self.grading(number), actor=self.user)
        shown = Job.objects.with_progress().get(pk=job.pk)
        return Response(JobSerializer(shown).data, status=HTTPStatus.ACCEPTED)


class BundleFileView(ProjectView):
    """The zip that a job has written; 410 when it is no longer kept."""

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY, 410: None})
    def get(self, request: Request, bundle: UUID) -> StreamingHttpResponse:
        job = get_object_or_404(Job.objects.of_project(self.project), kind=BUNDLE, pk=bundle)
        upload = job_file(job)
        if upload is None:
            raise Problems(HTTPStatus.GONE, "The file is not ready yet or has expired.")
        return stored_response(upload)


NAME = OpenApiParameter("table", str, OpenApiParameter.PATH, enum=list(TABLES), description="Which table.")
FORM = OpenApiParameter("form", str, enum=[CSV, PARQUET], description="By default csv.")
CANDIDATE = OpenApiParameter("candidate", int, description="With compare-cases: the run that is compared with.")


class TableView(ProjectView):
    """A table of a run as a file, written by a job; filters as the address of the table's CSV has them."""

    # Each table's own, as its page has them.
    takes_any_parameter = True

    @extend_schema(parameters=[NAME, GRADING, CANDIDATE, FORM], request=None, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request, number: int, table: str) -> Response:
        job = table_start(table_request=read_table_request(self.access, number, table), actor=self.user)
        shown = Job.objects.with_progress().get(pk=job.pk)
        return Response(JobSerializer(shown).data, status=HTTPStatus.ACCEPTED)


class TableFileView(ProjectView):
    """The file that a job has written, for the person who asked for it; 410 when it is no longer kept."""

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY, 410: None})
    def get(self, request: Request, file: UUID) -> StreamingHttpResponse:
        job = get_object_or_404(Job.objects.of_project(self.project), kind=TABLE, pk=file)
        if not table_belongs(job, self.user, self.access.role):
            raise Http404
        upload = job_file(job)
        if upload is None:
            raise Problems(HTTPStatus.GONE, "The file is not ready yet or has expired.")
        return stored_response(upload)
