"""Show the gates that a project keeps: made, changed, previewed on the newest runs, deleted."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reports.gates.form import NEW, GateForm, editor_of
from reports.gates.page import gate_rows
from reports.gates.previewing import PREVIEW_CSV, preview_csv, preview_table
from reports.gates.services import named_gate_delete, named_gate_save
from reports.gates.text import MAX_TEXT, GateText
from reports.models import GatePreview, HeldGate, NamedGate
from reports.services.gate_previews import gate_preview_start
from toolevals.grading.gates.results import GateMetric, gate_metrics
from toolevals.grading.judging import SHIPPED
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.yaml_documents import yaml_text
from toolevals.runs.models import Rubric
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest

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
        return _page(request, kept, _begun(request, kept, metrics))
    act = request.POST.get("act", "save")
    if act.startswith(("add:", "drop:")):
        return _page(request, kept, GateForm.changed(request.POST, metrics, act))
    editor = _sent(request, metrics, act)
    if editor.is_valid():
        try:
            if answer := _done(request, kept, editor, act):
                return answer
            name, baseline = editor.head.cleaned_data["name"], editor.head.baseline
            if act == "text":
                return _page(request, kept, GateText.of(editor.document(), name=name, baseline=baseline))
            return _page(request, kept, editor_of(editor.document(), metrics, name=name, baseline=baseline))
        except InvalidDocument as error:
            editor.add_problems(error)
    return _page(request, kept, editor, status=422)


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


def _page(
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
