"""Show the matrices of two runs next to each other: of production, and of an agent that was asked the same now."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.home.confusions import confusions_of
from reports.run.header import run_of
from toolevals.runs.models import Grading, Run
from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest


@require_safe
def production_comparison(request: ProjectRequest, number: int, candidate: int) -> HttpResponse:
    """Show both small matrices, or how far the work on a run is."""
    runs = [run_of(request, each) for each in (number, candidate)]
    sides = [(run, _job(run), confusions_of(_grading(run)) if run.grading_id else None) for run in runs]
    context = {"before": runs[0], "after": runs[1], "sides": sides, "are_graded": all(run.grading_id for run in runs)}
    return render(request, "reports/production_comparison.html", context)


def _grading(run: Run) -> Grading:
    return Grading.objects.select_related("dataset_version__dataset__project", "run").get(pk=run.grading_id)


def _job(run: Run) -> Job | None:
    """Return the job of a run that is not graded yet."""
    return None if run.grading_id else Job.objects.filter(pk=run.job_id).with_progress().first()
