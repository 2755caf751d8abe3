"""Show what baseline agents score on a dataset version."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.run.baseline_agents import baseline_rates, version_asked, version_baseline_agents
from reports.run.table import BASELINE_AGENTS
from toolevals.grading.engine.grader_catalog import OUTCOME_COUNTS
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file


@require_safe
def baseline_agents(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Show the baseline agents of a version, each rate opening its run."""
    version_row = version_asked(request, dataset, version)
    context = {
        "dataset": version_row.dataset,
        "version": version_row,
        "baseline_agents": version_baseline_agents(version_row),
        "outcome_counts": OUTCOME_COUNTS,
    }
    return render(request, "reports/baseline_agents.html", context)


@require_safe
def baseline_agents_csv(request: ProjectRequest, dataset: str, version: str) -> StreamingHttpResponse:
    """Send every rate of every baseline agent of a version."""
    version_row = version_asked(request, dataset, version)
    rates = baseline_rates(version_baseline_agents(version_row))
    return table_file(f"{dataset}-v{version_row.number}-baseline-agents", BASELINE_AGENTS, rates)
