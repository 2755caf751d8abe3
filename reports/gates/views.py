"""Show the gates that the project keeps, their previews, and the history of what they checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reports.filters.case_filters import address_query, text
from reports.filters.case_filters import number as read_number
from reports.gates.form import MAX_TEXT, NEW, GateForm, GateText, editor_of
from reports.gates.page import (
    CHECKS_CSV,
    EXAMPLES_A_PAGE,
    GATES_CSV,
    PREVIEW_CSV,
    check_counts,
    check_rows,
    checks_csv,
    example_rows,
    gate_rows,
    gate_words,
    gates_csv,
    preview_csv,
    preview_table,
    status_counts,
    statuses_sentence,
    verdict_of,
)
from reports.gates.services import (
    GateRequest,
    badge_drop,
    badge_make,
    gate_hold,
    gate_preview_start,
    named_gate_delete,
    named_gate_save,
)
from reports.models import GateBadge, GatePreview, HeldGate, NamedGate
from reports.run.header import run_head, run_of
from reports.trends.queries import experiment_of
from toolevals.grading.gates.results import GateMetric, GateResult, gate_metrics
from toolevals.grading.judging import SHIPPED
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.yaml_documents import yaml_text
from toolevals.presentation.gate_reports import badge_svg
from toolevals.runs.models import Experiment, Rubric
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.middleware import shows_secret
from toolevals.workspace.models import Job, untrashed
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
        headers={
            "Cache-Control": "no-cache, max-age=0",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "X-Robots-Tag": "noindex",
        },
    )


HELD_SHOWN = 10
# The forms in which a document is downloaded, as the command reads them.
WRITERS = {"json": lambda document: json.dumps(document, ensure_ascii=False, indent=2) + "\n", "yaml": yaml_text}


@require_http_methods(["GET", "HEAD", "POST"])
def named_gate_new(request: ProjectRequest) -> HttpResponse:
    """Show the form of a new gate; by POST, change its rows, try it or keep it."""
    return _edited(request, None)


@require_http_methods(["GET", "HEAD", "POST"])
def named_gate_edit(request: ProjectRequest, name: str) -> HttpResponse:
    """Show the form of a kept gate; by POST, change its rows, try it or keep it."""
    return _edited(request, _kept(request, name))


@require_safe
def named_gate(request: ProjectRequest, name: str) -> HttpResponse:
    """Show a kept gate: its document, and the runs that were checked by it by its name."""
    gate = _kept(request, name)
    held = HeldGate.objects.in_project(request.project).filter(name=gate.name)[:HELD_SHOWN]
    context = {"gate": gate, "document": yaml_text(gate.gate), "rows": gate_rows(held)}
    return render(request, "reports/named_gate.html", context)


@require_safe
def named_gate_file(request: ProjectRequest, name: str, ending: str) -> HttpResponse:
    """Send a gate's document as the command reads it."""
    gate = _kept(request, name)
    kind = "application/json" if ending == "json" else "application/yaml"
    headers = {"Content-Disposition": f'attachment; filename="{gate.name}.{ending}"'}
    return HttpResponse(WRITERS[ending](gate.gate), content_type=f"{kind}; charset=utf-8", headers=headers)


@require_POST
def named_gate_drop(request: ProjectRequest, name: str) -> HttpResponse:
    """Delete a kept gate."""
    named_gate_delete(gate=_kept(request, name), actor=request.user)
    return redirect("reports:gates", request.project.slug)


@require_POST
def named_gate_try(request: ProjectRequest, name: str) -> HttpResponse:
    """Begin to say what a kept gate would have said of the newest runs."""
    gate = _kept(request, name)
    try:
        made = gate_preview_start(
            project=request.project, actor=request.user, gate=gate.gate, baseline=gate.baseline, name=gate.name
        )
    except InvalidDocument as error:
        context = {"gate": gate, "document": yaml_text(gate.gate), "rows": [], "problems": error.problems}
        return render(request, "reports/named_gate.html", context, status=422)
    return redirect("reports:gate-preview", request.project.slug, made.pk)


@require_safe
def gate_preview(request: ProjectRequest, preview: UUID) -> HttpResponse:
    """Show what a gate would have said of the newest runs, or how far that is."""
    row = _preview(request, preview)
    kept = NamedGate.objects.in_project(request.project).filter(name=row.name).first() if row.name else None
    return render(request, "reports/gate_preview.html", _previewed(row) | {"kept": kept})


@require_safe
def gate_preview_csv(request: ProjectRequest, preview: UUID) -> StreamingHttpResponse:
    """Send every check of every run of a preview."""
    return csv_file("gate-preview", PREVIEW_CSV, preview_csv(_preview(request, preview)))


def _edited(request: ProjectRequest, kept: NamedGate | None) -> HttpResponse:
    metrics = _metrics(request)
    if request.method != "POST":
        return _form_page(request, kept, _begun(request, kept, metrics))
    act = request.POST.get("act", "save")
    if act.startswith(("add:", "drop:")):
        return _form_page(request, kept, GateForm.changed(request.POST, metrics, act))
    editor = _sent(request, metrics, act)
    if editor.is_valid():
        try:
            if answer := _done(request, kept, editor, act):
                return answer
            name, baseline = editor.head.cleaned_data["name"], editor.head.baseline
            if act == "text":
                return _form_page(request, kept, GateText.of(editor.document(), name=name, baseline=baseline))
            return _form_page(request, kept, editor_of(editor.document(), metrics, name=name, baseline=baseline))
        except InvalidDocument as error:
            editor.add_problems(error)
    return _form_page(request, kept, editor, status=422)


def _done(
    request: ProjectRequest, kept: NamedGate | None, editor: GateForm | GateText, act: str
) -> HttpResponse | None:
    """Keep the gate, or try it; None where only another form of it is wanted. Raises InvalidDocument."""
    asked: dict[str, Any] = {
        "project": request.project,
        "actor": request.user,
        "gate": editor.document(),
        "name": editor.head.cleaned_data["name"],
        "baseline": editor.head.baseline,
    }
    if act == "save":
        saved = named_gate_save(**asked, was=kept.name if kept else "")
        return redirect("reports:named-gate", request.project.slug, saved.name)
    if act == "preview":
        made = gate_preview_start(**asked)
        return redirect(f"{_address(request, kept)}?preview={made.pk}#preview")
    return None


def _sent(request: ProjectRequest, metrics: list[GateMetric], act: str) -> GateForm | GateText:
    """Return what was sent: the form, the text, or the text of a file."""
    file = request.FILES.get("file")
    if act == "read" and file is not None:
        data = request.POST.copy()
        data["document"] = file.read(MAX_TEXT + 1).decode("utf-8-sig", "replace")
        return GateText.sent(data)
    if act == "read" or request.POST.get("as") == "text":
        return GateText.sent(request.POST)
    return GateForm.sent(request.POST, metrics)


def _begun(request: ProjectRequest, kept: NamedGate | None, metrics: list[GateMetric]) -> GateForm | GateText:
    """Return what the form begins with: what was tried, what is kept, or a first rule."""
    if (tried := _asked_preview(request)) is not None:
        return editor_of(tried.gate, metrics, name=tried.name, baseline=tried.baseline)
    if kept is not None:
        return editor_of(kept.gate, metrics, name=kept.name, baseline=kept.baseline)
    return GateForm.of(NEW, metrics)


def _form_page(
    request: ProjectRequest, kept: NamedGate | None, editor: GateForm | GateText, status: int = 200
) -> HttpResponse:
    tried = _asked_preview(request)
    context = {
        "kept": kept,
        "editor": editor,
        "address": _address(request, kept),
        **(_previewed(tried) if tried else {}),
    }
    return render(request, "reports/gate_form.html", context, status=status)


def _previewed(preview: GatePreview) -> dict[str, Any]:
    job = Job.objects.filter(pk=preview.job_id).with_progress().first()
    return {"preview": preview, "table": preview_table(preview), "job": job}


def _asked_preview(request: ProjectRequest) -> GatePreview | None:
    try:
        key = UUID(request.GET.get("preview", ""))
    except ValueError:
        return None
    return GatePreview.objects.filter(project=request.project, pk=key).select_related("project").first()


def _preview(request: ProjectRequest, preview: UUID) -> GatePreview:
    return get_object_or_404(GatePreview.objects.select_related("project"), project=request.project, pk=preview)


def _kept(request: ProjectRequest, name: str) -> NamedGate:
    gate: NamedGate = get_object_or_404(NamedGate.objects.in_project(request.project), name=name)
    gate.project = request.project
    return gate


def _address(request: ProjectRequest, kept: NamedGate | None) -> str:
    if kept is None:
        return reverse("reports:named-gate-new", args=[request.project.slug])
    return reverse("reports:named-gate-edit", args=[request.project.slug, kept.name])


def _metrics(request: ProjectRequest) -> list[GateMetric]:
    shipped = {name: rubric.title for name, rubric in SHIPPED.items()}
    own = Rubric.objects.in_project(request.project).order_by("name", "version").values_list("name", "title")
    return gate_metrics(shipped | dict(own))
