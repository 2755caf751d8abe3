"""Send a run as one HTML file."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from reports.report_file.asked import NotComparedError, host_of, report_response
from reports.run.header import graded, run_head, run_url
from toolevals.workspace.requests import ProjectRequest


@require_safe
def send_report_file(request: ProjectRequest, number: int) -> HttpResponse:
    """Send the file; where the baseline cannot be compared, go back to the form and say why."""
    head = run_head(request, number, "bundle")
    try:
        return report_response(request, graded(head), host_of(request))
    except NotComparedError as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(run_url("bundle", head.run) + head.query)
