"""The gates that one run was held against, as a section of the run."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.gates.page import GATES_CSV, gate_rows, gate_words, gates_csv, status_counts, statuses_sentence
from reports.models import HeldGate
from reports.pages.shared import run_head, run_of
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file


@require_safe
def run_gates(request: ProjectRequest, number: int) -> HttpResponse:
    """List the gates of a run, the newest first, of all its gradings."""
    head = run_head(request, number, "run-gates")
    held = HeldGate.objects.in_project(request.project).filter(run=head.run)
    counts = status_counts(held)
    page = page_of(held, request.GET.get("before", ""))
    newest = page.rows[0] if page.rows and "before" not in request.GET else None
    context = {
        "head": head,
        "run": head.run,
        "rows": gate_rows(page.rows),
        "older": page.older,
        "held_count": sum(counts.values()),
        "sentence": statuses_sentence(counts),
        "newest": newest,
        "words": gate_words(newest.outcome) if newest and newest.outcome else "",
    }
    return render(request, "reports/run_gates.html", context)


@require_safe
def run_gates_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the same list."""
    run = run_of(request, number)
    held = HeldGate.objects.in_project(request.project).filter(run=run)
    return csv_file(f"run-{number}-gates", GATES_CSV, gates_csv(held.iterator(chunk_size=500)))
