"""Show which parameter of which tool is wrong, and how."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.filters.case_filters import address_query, text
from reports.queries.grading import verdict_counts
from reports.run.arguments import KIND_WORDS, KINDS, ArgumentRow
from reports.run.header import RunHead, graded, run_head
from reports.run.queries import grading_arguments
from reports.run.table import ARGUMENTS
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file

ROWS_AT_FIRST = 100


@require_safe
def arguments(request: ProjectRequest, number: int) -> HttpResponse:
    """Show the parameters, most often wrong first; each count leads to its cases."""
    head = run_head(request, number, "arguments")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    tool = text(request.GET, "tool")
    rows = grading_arguments(head.grading, tool)
    shown = rows if request.GET.get("rows") == "all" else rows[:ROWS_AT_FIRST]
    verdicts = verdict_counts(head.grading).get("arguments", {})
    own = {"tool": tool, "grading": head.grading_number or ""}
    context = {
        "head": head,
        "run": head.run,
        "rows": [(row, _cells(head, row)) for row in shown],
        "left": len(rows) - len(shown),
        "tool": tool,
        "kinds": [KIND_WORDS[kind] for kind in KINDS],
        "lost": verdicts.get("failed", 0),
        "compared": verdicts.get("failed", 0) + verdicts.get("passed", 0),
        "query": address_query(own),
        "query_all": address_query(own | {"rows": "all"}),
    }
    return render(request, "reports/arguments.html", context)


@require_safe
def arguments_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the parameters, as the page has them."""
    grading = graded(run_head(request, number, "arguments"))
    rows = grading_arguments(grading, text(request.GET, "tool"))
    return table_file(f"run-{number}-arguments", ARGUMENTS, rows)


def _cells(head: RunHead, row: ArgumentRow) -> list[tuple[int, str]]:
    """Return the count of each kind and the address query of its cases; "" where there are none."""
    of_row: dict[str, Any] = {"tool": row.tool, "parameter": row.argument, "grading": head.grading_number or ""}
    return [(row.counts[kind], address_query(of_row | {"fault": kind}) if row.counts[kind] else "") for kind in KINDS]
