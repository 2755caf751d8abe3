"""Show the digest of a week, and send it as a file."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.digest.queries import Week, digest_of
from reports.digest.table import LINE
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file


@require_safe
def digest(request: ProjectRequest) -> HttpResponse:
    """Show the week that the address asks for, else the last seven days."""
    problem = ""
    try:
        week = Week.of_address(request.GET)
    except InvalidDocument as error:
        week, problem = Week.of_address({}), f"The day {error.problems[0].message}."
    found = digest_of(request.project, request.user, request.role, week)
    context = {"digest": found, "week": week, "problem": problem}
    return render(request, "reports/digest.html", context, status=422 if problem else 200)


@require_safe
def digest_csv(request: ProjectRequest) -> HttpResponse | StreamingHttpResponse:
    """Send the same lines."""
    try:
        week = Week.of_address(request.GET)
    except InvalidDocument as error:
        words = f"until {error.problems[0].message}"
        return HttpResponseBadRequest(words, content_type="text/plain; charset=utf-8")
    found = digest_of(request.project, request.user, request.role, week)
    return table_file(f"digest-{week.until}", LINE, found.lines)
