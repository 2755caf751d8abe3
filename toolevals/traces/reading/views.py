"""Shows the list of traces, one trace, and one of its spans."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from toolevals.grading.layers.troubles import ERROR_CLASSES
from toolevals.registry.models import Registry
from toolevals.traces.blindness import CLOSED
from toolevals.traces.intake.models import shown
from toolevals.traces.judges.rules import JudgeRule, judge_rules
from toolevals.traces.judges.scores import SCORE_RULES
from toolevals.traces.lists import TRACES, trace_lines
from toolevals.traces.models import Trace
from toolevals.traces.policies.rules import policy_rules
from toolevals.traces.promotion.examples_of_trace import examples_of_trace
from toolevals.traces.reading.filters import SAID_ONCE, VERDICTS, TraceFilter
from toolevals.traces.reading.page import SESSION_SHOWN, span_page, trace_page
from toolevals.traces.reading.rules import RULES, Rule
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Role
from toolevals.workspace.paging import pages_of
from toolevals.workspace.requests import ProjectRequest

# The newest registries, for which the tools of a trace can be proposed.
REGISTRIES_SHOWN = 8


@require_safe
def traces(request: ProjectRequest) -> HttpResponse:
    """List the traces that the address asks for, the newest first."""
    trace_filter = TraceFilter.of(request.GET)
    judges = [*judge_rules(request.project).values()]
    rules: list[Rule | JudgeRule] = [*RULES, *policy_rules(request.project), *judges]
    named = {each.name: each for each in rules}
    page = trace_filter.page(request.project, request.role, request.GET.get("before", ""))
    context = {
        "page": page,
        "rows": shown(page.rows),
        "filters": trace_filter,
        "error_classes": ERROR_CLASSES,
        "said_once": SAID_ONCE,
        "rules": [each for name, each in named.items() if name not in SCORE_RULES],
        "scores": [named[name] for name in SCORE_RULES if name in named],
        "judges": judges,
        "verdicts": VERDICTS,
        "any": bool(page.rows) or Trace.objects.in_project(request.project).exists(),
    }
    return render(request, "traces/traces.html", context)


@require_safe
def traces_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    found = TraceFilter.of(request.GET).traces(request.project, request.role)
    rows = (each for page in pages_of(found) for each in shown(page))
    return csv_file("traces", TRACES, trace_lines(rows))


@require_safe
def trace(request: ProjectRequest, trace: UUID) -> HttpResponse:
    """Show one trace, read again from what its sender sent."""
    found = _open_trace(request, trace)
    session = Trace.objects.in_project(request.project).filter(session=found.session).order_by("pk")
    page = trace_page(found)
    may_propose = page.offered and request.role >= Role.ADJUDICATOR
    context = {
        "trace": found,
        "page": page,
        "registries": Registry.objects.in_project(request.project)[:REGISTRIES_SHOWN] if may_propose else [],
        "session": list(session[:SESSION_SHOWN]) if found.session else [],
        "examples": examples_of_trace(found, request.user, request.role),
    }
    return render(request, "traces/trace.html", context)


def _open_trace(request: ProjectRequest, trace: UUID) -> Trace:
    """Return a trace that is open to who asks. Raises Http404, and PermissionDenied where it is closed to them."""
    found = get_object_or_404(
        Trace.objects.in_project(request.project).with_closed(request.project, request.role), pk=trace
    )
    if vars(found)["is_closed"]:
        raise PermissionDenied(CLOSED)
    return found


@require_safe
def span(request: ProjectRequest, trace: UUID, span: str) -> HttpResponse:
    """Show one span: all of its attributes, and which of them no one read."""
    found = _open_trace(request, trace)
    page = span_page(found, span)
    if page is None:
        raise Http404
    return render(request, "traces/span.html", {"trace": found, "page": page})
