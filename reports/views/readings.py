"""Show what the file of a run was read as, and what was left out of it."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from django.views.decorators.http import require_safe

from reports.pages.run_header import graded, run_head
from reports.queries.readings import run_readings
from reports.tables import run as tables
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file


@require_safe
def readings_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the formats, the losses and the warnings, a row each."""
    grading = graded(run_head(request, number, "run"))
    return csv_file(f"run-{number}-readings", tables.READINGS, tables.readings(run_readings(grading.run)))
