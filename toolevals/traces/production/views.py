"""Shows traces in production: their tools, what they cost, and what online rules say of them, as pages and files."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from toolevals.traces.lists import (
    RULE_DAYS,
    TOOL_CHANGES,
    TOOL_FIGURES,
    TRACE_COSTS,
    rule_day_lines,
    tool_figure_lines,
)
from toolevals.traces.models import TraceJudge
from toolevals.traces.production.rule_trends import rule_trends, score_trends, trend_filter
from toolevals.traces.production.tool_changes import tool_filter, tool_table
from toolevals.traces.production.tool_figures import SPLITS, bars, error_marks, tool_figures
from toolevals.traces.production.trace_costs import MOST_ROWS, cost_figures
from toolevals.traces.production.trace_costs import SPLITS as COST_SPLITS
from toolevals.traces.production.verdict_export import VERDICTS, verdict_lines, verdict_rows
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file


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
        "rates": error_marks(table.shown),
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
    return table_file("changes-of-tools", TOOL_CHANGES, marks)


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
        "splits": COST_SPLITS,
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
    return table_file("costs-in-production", TRACE_COSTS, figures)


def _split(request: ProjectRequest) -> str:
    split = request.GET.get("by", "version")
    return split if split in COST_SPLITS else ""


@require_safe
def rules(request: ProjectRequest) -> HttpResponse:
    """Show what each rule said on each day, each number with the traces behind it."""
    trace_filter = trend_filter(request.GET)
    judges = list(TraceJudge.objects.in_project(request.project))
    trends = rule_trends(request.project, trace_filter, judges)
    context = {
        "trends": trends,
        "scores": score_trends(judges, trends),
        "filters": trace_filter,
        "query": trace_filter.query,
    }
    return render(request, "traces/rules.html", context)


@require_safe
def rules_csv(request: ProjectRequest) -> HttpResponse | StreamingHttpResponse:
    """Send the same table."""
    trace_filter = trend_filter(request.GET)
    if trace_filter.problems:
        return HttpResponseBadRequest(
            "\n".join(trace_filter.problems.values()), content_type="text/plain; charset=utf-8"
        )
    return csv_file("rules-in-production", RULE_DAYS, rule_day_lines(rule_trends(request.project, trace_filter)))


@require_safe
def verdicts_csv(request: ProjectRequest) -> HttpResponse | StreamingHttpResponse:
    """Send one row for each verdict."""
    trace_filter = TraceFilter.of(request.GET)
    if trace_filter.problems:
        return _refused(trace_filter)
    return csv_file("verdicts", VERDICTS, verdict_rows(request.project, request.role, trace_filter))


@require_safe
def verdicts_jsonl(request: ProjectRequest) -> HttpResponse | StreamingHttpResponse:
    """Send the evaluation events, one line for each trace."""
    trace_filter = TraceFilter.of(request.GET)
    if trace_filter.problems:
        return _refused(trace_filter)
    return StreamingHttpResponse(
        verdict_lines(request.project, request.role, trace_filter),
        content_type="application/jsonl",
        headers={"Content-Disposition": 'attachment; filename="verdicts.jsonl"'},
    )


def _refused(trace_filter: TraceFilter) -> HttpResponse:
    """Refuse a filter that cannot be read: no one looks at a file to see that it holds more than was asked for."""
    return HttpResponseBadRequest("\n".join(trace_filter.problems.values()), content_type="text/plain; charset=utf-8")
