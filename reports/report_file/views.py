"""Send a run as one HTML file."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from reports.compare.queries import TwoRuns, two_runs
from reports.filters.case_filters import number as read_number
from reports.report_file.document import report_file
from reports.run.header import graded, run_head, run_url
from toolevals.runs.models import Grading, Run
from toolevals.workspace.requests import ProjectRequest


class NotComparedError(Exception):
    """The baseline that was asked for cannot be compared; says why."""


@require_safe
def send_report_file(request: ProjectRequest, number: int) -> HttpResponse:
    """Send the file; where the baseline cannot be compared, go back to the form and say why."""
    head = run_head(request, number, "bundle")
    try:
        return report_response(request, graded(head), host_of(request))
    except NotComparedError as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(run_url("bundle", head.run) + head.query)


def report_response(request: ProjectRequest, grading: Grading, host: str) -> HttpResponse:
    """Return the file that an address asks for. Raises NotComparedError."""
    # Whatever is not a plain no masks.
    redacted = request.GET.get("redacted", "").lower() not in ("", "0", "false")
    document = report_file(grading, runs=_baseline(request, grading), redacted=redacted, host=host)
    name = f"{grading.run.project.slug}-run-{grading.run.number}-grading-{grading.number}.html"
    return HttpResponse(
        document,
        content_type="text/html; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def host_of(request: HttpRequest) -> str:
    """Return where the server's pages are: what the operator says, else where the request came to."""
    return settings.PUBLIC_URL.rstrip("/") or request.build_absolute_uri("/").rstrip("/")


def _baseline(request: ProjectRequest, grading: Grading) -> TwoRuns | None:
    said = request.GET.get("baseline", "")
    if not said:
        return None
    before = read_number(request.GET, "baseline")
    number = grading.run.number
    runs = two_runs(Run.objects.filter(project=request.project), before, number) if before else None
    if runs is None:
        raise NotComparedError(f"There is no graded run {said[:20]} to compare with. Choose another baseline.")
    if runs.refusal:
        raise NotComparedError(runs.refusal)
    if runs.gradings[1].pk != grading.pk:
        raise NotComparedError("Only the newest grading of a run is compared. Leave out the grading or the baseline.")
    return runs
