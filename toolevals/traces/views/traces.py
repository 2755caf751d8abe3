"""The list of traces, one trace, and one of its spans."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from toolevals.grading.troubles import ERROR_CLASSES
from toolevals.traces.filters import TraceFilter
from toolevals.traces.lists import TRACES, trace_lines
from toolevals.traces.models import Trace
from toolevals.traces.page import SESSION_SHOWN, span_page, trace_page
from toolevals.traces.reading.rules import RULES
from toolevals.workspace.paging import rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file


@require_safe
def traces(request: ProjectRequest) -> HttpResponse:
    """List the traces that the address asks for, the newest first."""
    wanted = TraceFilter.of(request.GET)
    page = wanted.page(request.project, request.GET.get("before", ""))
    context = {
        "page": page,
        "wanted": wanted,
        "error_classes": ERROR_CLASSES,
        "rules": RULES,
        "any": bool(page.rows) or Trace.objects.in_project(request.project).exists(),
    }
    return render(request, "traces/traces.html", context)


@require_safe
def traces_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    found = TraceFilter.of(request.GET).traces(request.project)
    return csv_file("traces", TRACES, trace_lines(rows_of(found)))


@require_safe
def trace(request: ProjectRequest, trace: UUID) -> HttpResponse:
    """Show one trace, read anew from what its sender sent."""
    found = get_object_or_404(Trace, project=request.project, pk=trace)
    session = Trace.objects.in_project(request.project).filter(session=found.session).order_by("pk")
    context = {
        "trace": found,
        "page": trace_page(found),
        "session": list(session[:SESSION_SHOWN]) if found.session else [],
    }
    return render(request, "traces/trace.html", context)


@require_safe
def span(request: ProjectRequest, trace: UUID, span: str) -> HttpResponse:
    """Show one span: all of its attributes, and which of them nobody read."""
    found = get_object_or_404(Trace, project=request.project, pk=trace)
    page = span_page(found, span)
    if page is None:
        raise Http404
    return render(request, "traces/span.html", {"trace": found, "page": page})
