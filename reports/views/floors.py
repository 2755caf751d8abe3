"""Show what baseline agents score on a dataset version."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.queries.floors import version_asked, version_floors
from reports.tables import run as tables
from toolevals.grading.engine.grader_catalog import OUTCOME_COUNTS
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file


@require_safe
def floors(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Show the floors of a version, each rate opening its run."""
    found = version_asked(request, dataset, version)
    context = {
        "dataset": found.dataset,
        "version": found,
        "floors": version_floors(found),
        "outcome_counts": OUTCOME_COUNTS,
    }
    return render(request, "reports/floors.html", context)


@require_safe
def floors_csv(request: ProjectRequest, dataset: str, version: str) -> StreamingHttpResponse:
    """Send every rate of every floor of a version."""
    found = version_asked(request, dataset, version)
    return csv_file(f"{dataset}-v{found.number}-baseline-agents", tables.FLOORS, tables.floors(version_floors(found)))
