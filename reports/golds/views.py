"""Show one run under every gold that it was graded against, and the cases that changed between two of them."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.filters.case_filters import number as read_number
from reports.golds.queries import (
    CASES,
    CASES_A_PAGE,
    CAUSES,
    HOWS,
    GoldFilter,
    gold_case_lines,
    gold_cases,
    gold_changes,
    gold_rows,
    two_gradings,
)
from reports.run.header import run_head
from toolevals.runs.rereading.results import run_rereadings
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_safe
def golds(request: ProjectRequest, number: int) -> HttpResponse:
    """List the run's gradings by dataset version, with what changed from each to the next."""
    head = run_head(request, number, "golds")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    rows, more = gold_rows(head.run, read_number(request.GET, "start") or 0)
    context = {"head": head, "run": head.run, "rows": rows, "more": more, "rereadings": run_rereadings(head.run)}
    return render(request, "reports/golds.html", context)


@require_safe
def gold_changed(request: ProjectRequest, number: int, before: int, after: int) -> HttpResponse:
    """List the cases whose outcome changed between two gradings, each with its gold in both versions."""
    head = run_head(request, number, "golds")
    gradings = two_gradings(head.run, before, after)
    gold_filter, start = GoldFilter.of_address(request.GET), read_number(request.GET, "start") or 0
    changes = gold_changes(*gradings)
    count = changes.of(how=gold_filter.how, cause=gold_filter.cause)
    context = {
        "head": head,
        "run": head.run,
        "before": gradings[0],
        "after": gradings[1],
        "changes": changes,
        "filters": gold_filter,
        "count": count,
        "hows": HOWS.items(),
        "causes": CAUSES.items(),
        "rows": list(gold_cases(gradings, gold_filter, start)),
        "start": start,
        "more": start + CASES_A_PAGE if count > start + CASES_A_PAGE else None,
    }
    return render(request, "reports/gold_changed.html", context)


@require_safe
def gold_changed_csv(request: ProjectRequest, number: int, before: int, after: int) -> StreamingHttpResponse:
    """Send the same cases, all of them."""
    gradings = two_gradings(run_head(request, number, "golds").run, before, after)
    rows = gold_case_lines(gradings, GoldFilter.of_address(request.GET))
    return csv_file(f"run-{number}-gradings-{before}-to-{after}", CASES.head, rows)
