"""Serve a run as one HTML file in the REST interface."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from reports.report_file.asked import NotComparedError, host_of, report_response
from reports.run.api import GRADING, RunReportView
from toolevals.workspace.api.problems import Problems

BASELINE = OpenApiParameter("baseline", int, description="The number of a run to compare with, by its newest grading.")
REDACTED = OpenApiParameter("redacted", bool, description="Mask texts, values and reasons.")


class ReportFileView(RunReportView):
    """A run as one HTML file that opens without a server; 409 where the baseline cannot be compared."""

    @extend_schema(
        parameters=[GRADING, BASELINE, REDACTED], responses={(200, "text/html"): OpenApiTypes.STR, 409: None}
    )
    def get(self, request: Request, number: int) -> HttpResponse:
        try:
            return report_response(self.access, self.grading(number), host_of(self.access))
        except NotComparedError as error:
            raise Problems(409, str(error)) from None
