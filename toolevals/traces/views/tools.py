"""Tools in production: how often each is called, how often it fails, how long it takes."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from toolevals.traces.filters import TraceFilter
from toolevals.traces.lists import TOOL_FIGURES, tool_figure_lines
from toolevals.traces.tool_changes import tool_changes
from toolevals.traces.tool_figures import SPLITS, bars, tool_figures
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file

# Days that the page shows unless it is told otherwise, today included.
DAYS = 7
MOST_ROWS = 500


@require_safe
def tools(request: ProjectRequest) -> HttpResponse:
    """Show the tools' figures of some days, each number with the traces behind it."""
    wanted, split = _wanted(request)
    figures = tool_figures(request.project, wanted, split)
    context = {
        "figures": figures[:MOST_ROWS],
        "changes": tool_changes(request.project, wanted, split, figures[:MOST_ROWS]),
        "left_out": max(len(figures) - MOST_ROWS, 0),
        "calls": sum(each.calls for each in figures),
        "bars": bars(figures),
        "wanted": wanted,
        "split": split,
        "splits": SPLITS,
        "query": wanted.query,
    }
    return render(request, "traces/tools.html", context)


@require_safe
def tools_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same table, all of it."""
    wanted, split = _wanted(request)
    return csv_file(
        "tools-in-production", TOOL_FIGURES, tool_figure_lines(tool_figures(request.project, wanted, split))
    )


def _wanted(request: ProjectRequest) -> tuple[TraceFilter, str]:
    asked = request.GET.dict()
    if "since" not in asked:
        asked["since"] = str(timezone.localdate() - timedelta(days=DAYS - 1))
    split = asked.get("by", "")
    return TraceFilter.of(asked), split if split in SPLITS else ""
