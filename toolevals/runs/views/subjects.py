"""What is evaluated, and in which lines of runs."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from toolevals.runs.models import Experiment, Subject
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest


@require_safe
def subjects(request: ProjectRequest) -> HttpResponse:
    """List the subjects, the newest first."""
    rows = Subject.objects.in_project(request.project).with_runs()
    return render(request, "runs/subjects.html", {"page": page_of(rows, request.GET.get("before", ""))})


@require_safe
def experiments(request: ProjectRequest) -> HttpResponse:
    """List the experiments, the newest first."""
    rows = Experiment.objects.in_project(request.project).with_runs()
    return render(request, "runs/experiments.html", {"page": page_of(rows, request.GET.get("before", ""))})
