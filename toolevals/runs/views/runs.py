"""Show the list of runs, and the actions on one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.counts.run_rows import run_rows
from toolevals.runs.files import lists
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import Run
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Job
from toolevals.workspace.paging import page_of, pages_of
from toolevals.workspace.requests import ProjectRequest, is_own_page
from toolevals.workspace.views.jobs import job_act


@require_safe
def runs(request: ProjectRequest) -> HttpResponse:
    """List the runs, the newest first; `?experiment=` picks those of one. To HTMX, the table again."""
    experiment = request.GET.get("experiment", "")
    page = page_of(_listed(request), request.GET.get("before", ""))
    rows = run_rows(page.rows)
    context = {
        "rows": rows,
        "older": page.older,
        "experiment": request.project.experiments.filter(slug=experiment).first() if experiment else None,
        "any_spent": any(row.took.says_of_cases for row in rows),
        "any_running": any(row.is_running for row in rows),
    }
    return render(request, "runs/parts/run_table.html" if request.htmx else "runs/runs.html", context)


@require_safe
def runs_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    rows = (row for page in pages_of(_listed(request)) for row in run_rows(page))
    return csv_file("runs", lists.RUNS, lists.run_lines(rows))


@require_POST
def act(request: ProjectRequest, number: int, act: str) -> HttpResponse:
    """Do one of `JOB_ACTS` with the newest work on the run."""
    job_act(request, _job(request, number), act)
    return _back(request)


@require_POST
def regrade(request: ProjectRequest, number: int) -> HttpResponse:
    """Grade the run's transcripts on the newest version of its dataset."""
    try:
        grading = grading_start(run=_run(request, number), actor=request.user)
    except InvalidDocument as error:
        messages.error(request, error.problems[0].message)
    else:
        version = grading.dataset_version.number
        messages.info(request, f"Grading run {number} again, on v{version}. The earlier grading stays until then.")
    return _back(request)


def _listed(request: ProjectRequest) -> Any:
    """Return the runs that the address asks for."""
    experiment = request.GET.get("experiment", "")
    return Run.objects.in_project(request.project).of_people().of_experiment(experiment).with_newest()


def _run(request: ProjectRequest, number: int) -> Run:
    return get_object_or_404(Run.objects.select_related("project", "dataset_version__dataset"), **_key(request, number))


def _job(request: ProjectRequest, number: int) -> Job:
    """Return the job of the run's newest grading, or 404."""
    return get_object_or_404(
        Job, pk__in=_run(request, number).gradings.order_by("-number").values("job")[:1], project=request.project
    )


def _key(request: ProjectRequest, number: int) -> dict[str, object]:
    return {"project": request.project, "number": number}


def _back(request: ProjectRequest) -> HttpResponse:
    """Return to the page that asked, if it is one of ours; else to the list."""
    asked = request.POST.get("next", "")
    return redirect(asked if is_own_page(request, asked) else reverse("runs:runs", args=[request.project.slug]))
