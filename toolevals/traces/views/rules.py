"""Shows online rules over days, on a page and as CSV."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from toolevals.traces.lists import RULE_DAYS, rule_day_lines
from toolevals.traces.rule_trends import rule_trends, trend_filter
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_safe
def rules(request: ProjectRequest) -> HttpResponse:
    """Show what each rule said on each day, each number with the traces behind it."""
    trace_filter = trend_filter(request.GET)
    context = {
        "trends": rule_trends(request.project, trace_filter),
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
