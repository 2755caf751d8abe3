"""Sends verdicts of online rules as files: those on the traces that the list shows."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.views.decorators.http import require_safe

from toolevals.traces.filters import TraceFilter
from toolevals.traces.verdict_export import VERDICTS, verdict_lines, verdict_rows
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


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
