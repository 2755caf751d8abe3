"""Read which file an address asks for, and answer with it: by page and by REST."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from reports.compare.queries import TwoRuns, two_runs
from reports.filters.case_filters import number as read_number
from reports.report_file.document import report_file
from toolevals.runs.models import Grading, Run
from toolevals.workspace.requests import ProjectRequest


class NotComparedError(Exception):
    """The baseline that was asked for cannot be compared; says why."""


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
