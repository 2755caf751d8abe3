"""Shows what traces took by version, agent, model or day, on a page and as CSV."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from toolevals.traces.lists import TRACE_COSTS, trace_cost_lines
from toolevals.traces.rule_trends import trend_filter
from toolevals.traces.trace_costs import MOST_ROWS, SPLITS, cost_figures
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_safe
def costs(request: ProjectRequest) -> HttpResponse:
    """Show what the traces of some days took, each number with the traces behind it."""
    trace_filter, split = trend_filter(request.GET), _split(request)
    figures = cost_figures(request.project, trace_filter, split)
    context = {
        "figures": figures[:MOST_ROWS],
        "left_out": max(len(figures) - MOST_ROWS, 0),
        "filters": trace_filter,
        "split": split,
        "splits": SPLITS,
        "query": trace_filter.query,
    }
    return render(request, "traces/costs.html", context)


@require_safe
def costs_csv(request: ProjectRequest) -> HttpResponse | StreamingHttpResponse:
    """Send the same table, all of it."""
    trace_filter = trend_filter(request.GET)
    if trace_filter.problems:
        return HttpResponseBadRequest(
            "\n".join(trace_filter.problems.values()), content_type="text/plain; charset=utf-8"
        )
    figures = cost_figures(request.project, trace_filter, _split(request))
    return csv_file("costs-in-production", TRACE_COSTS, trace_cost_lines(figures))


def _split(request: ProjectRequest) -> str:
    split = request.GET.get("by", "version")
    return split if split in SPLITS else ""
