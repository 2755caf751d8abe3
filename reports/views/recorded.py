"""Show our verdicts next to the rewards that the source of a recorded run gave."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.filters.case_filters import address_query, verdict_column
from reports.run import table as tables
from reports.run.header import graded, run_head
from reports.run.recorded import REWARDS, recorded_agreement
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file


@require_safe
def recorded(request: ProjectRequest, number: int) -> HttpResponse:
    """Show the table of one verdict by recorded reward; each number opens its cases."""
    head = run_head(request, number, "recorded")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    column = verdict_column(request.GET, "column")
    context = {
        "head": head,
        "run": head.run,
        "agreement": recorded_agreement(head.grading, column),
        "columns": VERDICT_NAMES,
        "rewards": REWARDS.items(),
        "query": address_query({"column": column, "grading": head.grading_number or ""}),
    }
    return render(request, "reports/recorded.html", context)


@require_safe
def recorded_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the table, a row for each status and kind of reward."""
    grading = graded(run_head(request, number, "recorded"))
    agreement = recorded_agreement(grading, verdict_column(request.GET, "column"))
    return table_file(f"run-{number}-recorded", tables.RECORDED, agreement.cells)
