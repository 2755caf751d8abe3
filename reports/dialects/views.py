"""Show other evaluators' verdicts on the calls of a run: pass rates, agreement of any two, and why they differ."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from reports.cases.queries import listed_cases
from reports.dialects import table as tables
from reports.dialects.analysis import Dialects, dialects_sentence
from reports.dialects.grade_with_dialects import dialects_read, dialects_start
from reports.dialects.queries import dialects_shown, said_rows
from reports.filters.case_filters import CaseFilter, address_query, read_case_filter, text
from reports.judges.queries import flagged_cases, judges_of
from reports.models import DialectReading
from reports.run.header import RunHead, graded, run_head, run_url
from reports.run.metrics import metrics_of
from reports.run.queries import grading_proxies
from toolevals.grading.dialects.other_verdicts import OURS
from toolevals.runs.models import Grading
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "HEAD", "POST"])
def dialects(request: ProjectRequest, number: int) -> HttpResponse:
    """Show what other tools say of a run's calls; by POST, have the cases of a large run read by their rules."""
    head = run_head(request, number, "dialects")
    if request.method == "POST":
        dialects_start(grading=graded(head), actor=request.user)
        messages.success(request, "Started. The verdicts appear here when all cases are graded.")
        return HttpResponseRedirect(run_url("dialects", head.run) + head.query)
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    reading = dialects_read(head.grading)
    context: dict[str, Any] = {"head": head, "run": head.run, "reading": reading, **_also(head.grading)}
    if reading is None or reading.finished_at is None:
        job = reading.job if reading else None
        context |= {"job": job, "at_work": job is not None and job.is_open}
        return render(request, "reports/dialects_waiting.html", context)
    return render(request, "reports/dialects.html", context | _shown(request, head, dialects_shown(reading)))


def _shown(request: ProjectRequest, head: RunHead, shown: Dialects) -> dict[str, Any]:
    most = shown.most_different
    one, other = text(request.GET, "one") or OURS, text(request.GET, "other") or (most.key if most else "")
    if one not in shown.keys or other not in shown.keys or one == other:
        one, other = OURS, most.key if most else ""
    return {
        "dialects": shown,
        "sentence": dialects_sentence(shown),
        "pair": shown.pair(one, other) if other else None,
        "selected": {one, other},
        "query_grading": address_query({"grading": head.grading_number or ""}),
    }


def _also(grading: Grading) -> dict[str, Any]:
    """Return what else judges the cases: judges, metrics, and the checks of calls next to the end state."""
    return {
        "judges": judges_of(grading),
        "flagged": flagged_cases(grading) if grading.judges else 0,
        "metrics": metrics_of(grading),
        "proxies": grading_proxies(grading),
        "layers_track_start": 0.0,
    }


def _finished(request: ProjectRequest, number: int) -> DialectReading:
    reading = dialects_read(graded(run_head(request, number, "dialects")))
    if reading is None or reading.finished_at is None:
        raise Http404
    return reading


@require_safe
def cases_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send every tool's verdict on each case of the list that the address asks for."""
    reading = _finished(request, number)
    choice = read_case_filter(request.GET)
    cases = None if choice == CaseFilter() else listed_cases(reading.grading, choice)
    return csv_file(f"run-{number}-dialect-cases", tables.CASES, said_rows(reading, cases))
