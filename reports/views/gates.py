"""Show the history of gates: every run that one checked, its checks, and their examples.

A run shows the gates that checked it.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from reports.filters.case_filters import address_query, text
from reports.filters.case_filters import number as read_number
from reports.gates.page import (
    CHECKS_CSV,
    EXAMPLES_A_PAGE,
    GATES_CSV,
    check_counts,
    check_rows,
    checks_csv,
    example_rows,
    gate_rows,
    gate_words,
    gates_csv,
    status_counts,
    statuses_sentence,
    verdict_of,
)
from reports.models import GateBadge, HeldGate, NamedGate
from reports.pages.run_header import run_head, run_of
from reports.services import GateRequest, badge_drop, badge_make, gate_hold
from reports.trends.scope import experiment_of
from toolevals.grading.gates.results import GateResult
from toolevals.grading.values.problems import InvalidDocument
from toolevals.presentation.gate_reports import badge_svg
from toolevals.runs.models import Experiment
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.middleware import shows_secret
from toolevals.workspace.models import untrashed
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest

STATUSES = ("passed", "warned", "failed", "unanswered")
FILTERS = ("experiment", "branch", "status")


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


@require_safe
def gates(request: ProjectRequest) -> HttpResponse:
    """List the runs that were checked by a gate, the newest first."""
    filters = {name: text(request.GET, name) for name in FILTERS}
    page = page_of(HeldGate.objects.in_project(request.project).matching(**filters), request.GET.get("before", ""))
    experiments = Experiment.objects.in_project(request.project)
    experiment = experiments.filter(slug=filters["experiment"]).first()
    badge_url = _badge_url(request, experiment) if experiment else ""
    context = {
        "rows": gate_rows(page.rows),
        "older": page.older,
        "filters": filters,
        "experiments": experiments.filter(
            untrashed("runs"), runs__held_gates__isnull=False, runs__held_gates__preview__isnull=True
        ).distinct(),
        "named": NamedGate.objects.in_project(request.project),
        "experiment": experiment,
        "badge_url": badge_url,
        "statuses": STATUSES,
        "query": address_query(filters),
    }
    response = render(request, "reports/gates.html", context)
    return shows_secret(response) if badge_url else response


@require_safe
def gates_file(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the list, filtered as it is shown."""
    filters = {name: text(request.GET, name) for name in FILTERS}
    held = HeldGate.objects.in_project(request.project).matching(**filters)
    return csv_file("gates", GATES_CSV, gates_csv(held.iterator(chunk_size=500)))


@require_safe
def gate(request: ProjectRequest, gate: UUID) -> HttpResponse:
    """Show what a run was checked by and how each check came out."""
    held = _held(request, gate)
    result = held.outcome
    context = {
        "held": held,
        "result": result,
        "words": gate_words(result) if result else "",
        "checks": check_rows(result) if result else [],
        "counts": check_counts(held),
    }
    return render(request, "reports/gate.html", context)


@require_safe
def gate_file(request: ProjectRequest, gate: UUID) -> StreamingHttpResponse:
    """Send every check of a gate."""
    held = _held(request, gate)
    return csv_file(f"gate-run-{held.run.number}", CHECKS_CSV, checks_csv(held, _decided(held)))


@require_safe
def check(request: ProjectRequest, gate: UUID, number: int) -> HttpResponse:
    """Show the examples that kept a check from passing, each opening its cases."""
    held = _held(request, gate)
    rows = {row.number: row for row in check_rows(_decided(held))}
    if (row := rows.get(number)) is None:
        raise Http404
    skip = (read_number(request.GET, "page") or 1) * EXAMPLES_A_PAGE - EXAMPLES_A_PAGE
    names = row.check.examples[max(skip, 0) : max(skip, 0) + EXAMPLES_A_PAGE]
    of_slice = row.check.name.endswith("(consistency slice)")
    shown = held.consistency if of_slice else held.grading
    page, verdict = max(skip, 0) // EXAMPLES_A_PAGE + 1, verdict_of(row.check.metric)
    context = {
        "held": held,
        "row": row,
        "shown_run": shown.run if shown else held.run,
        "verdict": verdict,
        "examples": example_rows(held, names, verdict, consistency=of_slice),
        "kept": len(row.check.examples),
        "page": page,
        "more": page * EXAMPLES_A_PAGE < len(row.check.examples),
    }
    return render(request, "reports/gate_check.html", context)


@require_POST
def badge_change(request: ProjectRequest, experiment: str) -> HttpResponse:
    """Give an experiment's badge a new address, or with `drop` take it back."""
    experiment_row = experiment_of(request, experiment)
    if request.POST.get("drop"):
        badge_drop(experiment=experiment_row, actor=request.user)
    else:
        badge_make(experiment=experiment_row, actor=request.user)
    return redirect(f"{reverse('reports:gates', args=[request.project.slug])}?experiment={experiment_row.slug}")


def _held(request: ProjectRequest, gate: UUID) -> HeldGate:
    found = HeldGate.objects.shown_in(request.project).select_related("consistency__run")
    return get_object_or_404(found, pk=gate)


def _decided(held: HeldGate) -> GateResult:
    result = held.outcome
    if result is None:
        raise Http404
    return result


def _badge_url(request: ProjectRequest, experiment: Experiment) -> str:
    badge = GateBadge.objects.filter(experiment=experiment).first()
    return request.build_absolute_uri(reverse("badges:badge", args=[badge.key])) if badge else ""


@require_safe
def badge(request: ProjectRequest, key: str) -> HttpResponse:
    """Show anyone who knows the address whether the experiment's newest gate is passed, and nothing else."""
    row = get_object_or_404(GateBadge.objects.select_related("experiment"), key=key)
    held = HeldGate.objects.newest_of(row.experiment)
    return HttpResponse(
        badge_svg(held.status if held else ""),
        content_type="image/svg+xml; charset=utf-8",
        headers={"Cache-Control": "no-cache, max-age=0", "X-Robots-Tag": "noindex"},
    )
