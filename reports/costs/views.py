"""Show what the calls to each tool of a run took, what its conversations did, and its excess calls."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.cases.queries import verdict_counts
from reports.costs.analysis import By, ToolCosts
from reports.costs.queries import HEADS, grading_tool_costs, read_order, spending_shown, spent_rows
from reports.costs.table import SPENDING
from reports.filters.case_filters import address_query
from reports.run.header import RunHead, graded, run_head
from reports.run.overreach import grading_overreach
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.models import Grading, MatrixCount
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file

ROWS_AT_FIRST, MOST_OVERREACH = 100, 12


@require_safe
def spending(request: ProjectRequest, number: int) -> HttpResponse:
    """Show the table; each number opens the case that it comes from."""
    head = run_head(request, number, "spending")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    costs = grading_tool_costs(head.grading, read_order(request.GET))
    overreach = grading_overreach(head.grading)
    shown = None if request.GET.get("rows") == "all" else ROWS_AT_FIRST
    own = {"order": request.GET.get("order", ""), "grading": head.grading_number or ""}
    context = {
        "head": head,
        "run": head.run,
        "left": max(len(costs.rows) - shown, 0) if shown else 0,
        # Every finished grading has counted its calls since they are measured.
        "graded_earlier": not costs.rows and _made_calls(head.grading),
        "query": address_query(own),
        "query_all": address_query(own | {"rows": "all"}),
        "spending": spending_shown(head.grading, verdict_counts(head.grading).get("outcome", {}).get("passed", 0)),
        "overreach": overreach,
        "overreach_rows": overreach.rows[:MOST_OVERREACH],
        "overreach_left": max(0, len(overreach.rows) - MOST_OVERREACH),
        **_spent(head, costs, shown),
    }
    return render(request, "reports/spending.html", context)


def _made_calls(grading: Grading) -> bool:
    return MatrixCount.objects.filter(grading=grading, view="aligned").exclude(actual=NONE).exists()


@require_safe
def spending_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the table, as the page has it."""
    grading = graded(run_head(request, number, "spending"))
    costs = grading_tool_costs(grading, read_order(request.GET))
    return table_file(f"run-{number}-spending", SPENDING, costs.rows)


def _spent(head: RunHead, costs: ToolCosts, most: int | None) -> dict[str, Any]:
    """Return what the table shows: its rows, and each column with the address that orders by it."""
    heads = [
        (by, *HEADS[by], address_query({"order": by, "grading": head.grading_number or ""}), by is costs.by)
        for by in By
    ]
    return {"costs": costs, "spent_rows": spent_rows(costs, most), "spent_heads": heads}
