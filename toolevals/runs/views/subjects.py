"""Show what is evaluated, and in which lines of runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from toolevals.runs.files import lists
from toolevals.runs.models import Experiment, Subject
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file


@require_safe
def subjects(request: ProjectRequest) -> HttpResponse:
    """List the subjects, the newest first."""
    rows = Subject.objects.in_project(request.project).with_runs()
    return render(request, "runs/subjects.html", _page(rows, request, "subjects"))


@require_safe
def subjects_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    rows = rows_of(Subject.objects.in_project(request.project).with_runs())
    return csv_file("subjects", lists.SUBJECTS, lists.subject_lines(rows))


@require_safe
def experiments(request: ProjectRequest) -> HttpResponse:
    """List the experiments, the newest first."""
    rows = Experiment.objects.in_project(request.project).with_runs()
    return render(request, "runs/experiments.html", _page(rows, request, "experiments"))


@require_safe
def experiments_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    rows = rows_of(Experiment.objects.in_project(request.project).with_runs())
    return csv_file("experiments", lists.EXPERIMENTS, lists.experiment_lines(rows))


def _page(rows: Any, request: ProjectRequest, current: str) -> dict[str, Any]:
    return {"page": page_of(rows, request.GET.get("before", "")), "current": current}
