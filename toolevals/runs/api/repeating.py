"""Show what could not be had and what failed, in the REST interface: asked again, and exported."""

from __future__ import annotations

from http import HTTPStatus

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.presentation.csv import csv_stream
from toolevals.runs.api.case_views import GRADING
from toolevals.runs.api.serializers import GradingStartedSerializer, RunStartedSerializer
from toolevals.runs.api.views import RunView, started
from toolevals.runs.files.failure_export import COLUMNS, failing_lines, failing_rows
from toolevals.runs.models import Grading
from toolevals.runs.scope.requested_grading import asked_grading
from toolevals.runs.services.repeating import errored_ask_again, failing_run_again
from toolevals.workspace.api.idempotency import idempotent


class Errored(RunView):
    """Ask the agent again in the trials in which it could not be reached; the answers are graded again."""

    @extend_schema(request=None, responses={202: GradingStartedSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        grading = errored_ask_again(run=self.find(number), actor=self.user)
        shown = GradingStartedSerializer({"grading": grading, "job": grading.job}).data
        return Response(shown, status=HTTPStatus.ACCEPTED)


class Failing(RunView):
    """Start a run like this one over the examples that failed in it."""

    @extend_schema(request=None, responses={202: RunStartedSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        return started(failing_run_again(run=self.find(number), actor=self.user))


class FailingView(RunView):
    """The base of the views of failing cases."""

    def grading(self, number: int) -> Grading | None:
        """Return the grading that is asked for. Raises `Http404`."""
        return asked_grading(self.find(number), self.request.query_params.get("grading", ""))


class FailingLines(FailingView):
    """The failing cases of a grading as JSON Lines: input, what was done, verdicts, and why."""

    @extend_schema(parameters=[GRADING], responses={(200, "application/jsonl"): OpenApiTypes.BINARY})
    def get(self, request: Request, number: int) -> StreamingHttpResponse:
        return StreamingHttpResponse(failing_lines(self.grading(number)), content_type="application/jsonl")


class FailingTable(FailingView):
    """The failing cases of a grading as CSV."""

    @extend_schema(parameters=[GRADING], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, number: int) -> StreamingHttpResponse:
        rows = csv_stream(COLUMNS, failing_rows(self.grading(number)))
        return StreamingHttpResponse(rows, content_type="text/csv; charset=utf-8")
