"""Show what is evaluated, and in which lines of runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from toolevals.runs.files import lists
from toolevals.runs.models import Agent, Experiment
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest


@require_safe
def agents(request: ProjectRequest) -> HttpResponse:
    """List the agents, the newest first."""
    rows = Agent.objects.in_project(request.project).with_runs()
    return render(request, "runs/agents.html", _page(rows, request, "agents"))


@require_safe
def agents_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    rows = rows_of(Agent.objects.in_project(request.project).with_runs())
    return csv_file("agents", lists.SUBJECTS, lists.agent_lines(rows))


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
