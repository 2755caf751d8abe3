"""Show what could not be had and what failed in a run: asked again, and exported."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.files.failure_export import COLUMNS, failing_lines, failing_rows
from toolevals.runs.models import Grading, Run
from toolevals.runs.scope.requested_grading import asked_grading
from toolevals.runs.services.repeating import errored_ask_again, failing_run_again
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_POST
def errored(request: ProjectRequest, number: int) -> HttpResponse:
    """Ask the agent again where it could not be reached."""
    try:
        errored_ask_again(run=_run(request, number), actor=request.user)
    except InvalidDocument as error:
        messages.error(request, error.problems[0].message)
    return redirect("reports:run", request.project.slug, number)


@require_POST
def failing(request: ProjectRequest, number: int) -> HttpResponse:
    """Start a run like this one over what failed in it."""
    try:
        made = failing_run_again(run=_run(request, number), actor=request.user)
    except InvalidDocument as error:
        messages.error(request, error.problems[0].message)
        return redirect("reports:run", request.project.slug, number)
    return redirect("reports:run", request.project.slug, made.number)


@require_safe
def failing_jsonl(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the failing cases of a grading as JSON Lines."""
    headers = {"Content-Disposition": f'attachment; filename="run-{number}-failing.jsonl"'}
    lines = failing_lines(_grading(request, number))
    return StreamingHttpResponse(lines, content_type="application/jsonl", headers=headers)


@require_safe
def failing_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the failing cases of a grading as CSV."""
    return csv_file(f"run-{number}-failing", COLUMNS, failing_rows(_grading(request, number)))


def _grading(request: ProjectRequest, number: int) -> Grading | None:
    return asked_grading(_run(request, number), request.GET.get("grading", ""))


def _run(request: ProjectRequest, number: int) -> Run:
    runs = Run.objects.select_related("project", "agent", "experiment", "dataset_version__dataset")
    return get_object_or_404(runs, project=request.project, number=number)
