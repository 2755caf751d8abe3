"""Shows tools in production: how often each is called, how often it fails, how long it takes."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from toolevals.traces.lists import TOOL_CHANGES, TOOL_FIGURES, tool_change_lines, tool_figure_lines
from toolevals.traces.tool_figures import SPLITS, bars, tool_figures
from toolevals.traces.tool_table import tool_filter, tool_table
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_safe
def tools(request: ProjectRequest) -> HttpResponse:
    """Show the tools' figures of some days, each number with the traces behind it."""
    trace_filter, split = tool_filter(request.GET.dict())
    table = tool_table(request.project, trace_filter, split)
    context = {
        "figures": table.shown,
        "changes": table.changes,
        "left_out": len(table.figures) - len(table.shown),
        "calls": sum(each.calls for each in table.figures),
        "bars": bars(table.figures),
        "filters": trace_filter,
        "split": split,
        "splits": SPLITS,
        "query": trace_filter.query,
    }
    return render(request, "traces/tools.html", context)


@require_safe
def tools_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same table, all of it."""
    trace_filter, split = tool_filter(request.GET.dict())
    return csv_file(
        "tools-in-production", TOOL_FIGURES, tool_figure_lines(tool_figures(request.project, trace_filter, split))
    )


@require_safe
def tool_changes_csv(request: ProjectRequest) -> HttpResponse | StreamingHttpResponse:
    """Send the changes that the page marks."""
    trace_filter, split = tool_filter(request.GET.dict())
    if trace_filter.problems:
        return HttpResponseBadRequest(
            "\n".join(trace_filter.problems.values()), content_type="text/plain; charset=utf-8"
        )
    marks = tool_table(request.project, trace_filter, split).marks
    return csv_file("changes-of-tools", TOOL_CHANGES, tool_change_lines(marks))
