"""Show the gates that checked one run, as a section of the run."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from reports.gates.page import GATES_CSV, gate_rows, gate_words, gates_csv, status_counts, statuses_sentence
from reports.models import HeldGate, NamedGate
from reports.pages.run_header import run_head, run_of
from reports.services import GateRequest, gate_hold
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file


@require_safe
def run_gates(request: ProjectRequest, number: int) -> HttpResponse:
    """List the gates of a run, the newest first, of all its gradings."""
    return _page(request, number)


@require_POST
def run_gate_hold(request: ProjectRequest, number: int) -> HttpResponse:
    """Hold the run against a gate that the project keeps."""
    asked = GateRequest(name=request.POST.get("name", ""))
    try:
        held = gate_hold(run=run_of(request, number), actor=request.user, request=asked)
    except InvalidDocument as error:
        return _page(request, number, [each.message for each in error.problems])
    return redirect("reports:gate", request.project.slug, held.pk)


def _page(request: ProjectRequest, number: int, problems: Sequence[str] = ()) -> HttpResponse:
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
        "named": NamedGate.objects.in_project(request.project),
        "problems": problems,
    }
    return render(request, "reports/run_gates.html", context, status=422 if problems else 200)


@require_safe
def run_gates_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the same list."""
    run = run_of(request, number)
    held = HeldGate.objects.in_project(request.project).filter(run=run)
    return csv_file(f"run-{number}-gates", GATES_CSV, gates_csv(held.iterator(chunk_size=500)))
