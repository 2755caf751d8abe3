"""Show a registry's source: where it is, the last look, what changed there, and what that means for gold and pairs."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from reports.tool_drift.forms import SourceForm
from reports.tool_drift.queries import source_of, source_view
from reports.tool_drift.services import drift_publish, look_ask
from reports.tool_drift.table import CHANGES, MISFITS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.presentation.table import Table
from toolevals.registry.models import Registry, ToolSource
from toolevals.registry.sources.services import source_forget, source_set
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file

# So many rows of each table are shown; the files hold all.
MOST_ROWS = 200


@require_http_methods(["GET", "HEAD", "POST"])
def tool_source(request: ProjectRequest, registry: str) -> HttpResponse:
    """Show a registry's source with what changed there; by POST, keep or forget it, look there, or publish that."""
    found = _registry(request, registry)
    source = source_of(found)
    if request.method != "POST":
        return _page(request, found, source)
    try:
        return _act(request, found, source)
    except InvalidDocument as error:
        for problem in error.problems:
            messages.error(request, f"{problem.pointer} {problem.message}.".strip().capitalize())
        return redirect("reports:tool-source", request.project.slug, found.slug)


def _act(request: ProjectRequest, registry: Registry, source: ToolSource | None) -> HttpResponse:
    act = request.POST.get("act", "")
    here = redirect("reports:tool-source", request.project.slug, registry.slug)
    if act == "set":
        form = SourceForm(request.POST, project=request.project)
        if not form.is_valid():
            return _page(request, registry, source, form)
        try:
            kept = source_set(registry=registry, actor=request.user, **form.asked())
        except InvalidDocument as error:
            form.add_problems(error)
            return _page(request, registry, source, form)
        look_ask(source=kept)
    elif source is None:
        raise Http404
    elif act == "look":
        look_ask(source=source)
    elif act == "forget":
        source_forget(source=source, actor=request.user)
    elif act in ("publish", "run"):
        look, note = request.POST.get("look", ""), request.POST.get("note", "")[:300]
        version, run = drift_publish(source=source, actor=request.user, look=look, note=note, with_run=act == "run")
        if run is not None:
            return redirect("reports:run", request.project.slug, run.number)
        return redirect("registry:version", request.project.slug, registry.slug, version.number)
    return here


def _page(
    request: ProjectRequest, registry: Registry, source: ToolSource | None, form: SourceForm | None = None
) -> HttpResponse:
    view = source_view(source) if source else None
    context = {
        "registry": registry,
        "view": view,
        "changes": view.changes[:MOST_ROWS] if view else (),
        "misfits": view.misfits[:MOST_ROWS] if view else (),
        "most": MOST_ROWS,
        "form": form or SourceForm(project=request.project, source=source),
    }
    return render(request, "reports/tool_source.html", context, status=422 if form is not None else 200)


@require_safe
def changes_csv(request: ProjectRequest, registry: str) -> StreamingHttpResponse:
    """Send what changed at a source since the newest version."""
    return _file(request, registry, CHANGES)


@require_safe
def misfits_csv(request: ProjectRequest, registry: str) -> StreamingHttpResponse:
    """Send the examples whose gold would no longer validate."""
    return _file(request, registry, MISFITS)


def _file(request: ProjectRequest, registry: str, table: Table) -> StreamingHttpResponse:
    found = _registry(request, registry)
    source = source_of(found)
    if source is None:
        raise Http404
    view = source_view(source)
    name = "changes" if table is CHANGES else "gold"
    return table_file(f"{found.slug}-source-{name}", table, view.changes if table is CHANGES else view.misfits)


def _registry(request: ProjectRequest, slug: str) -> Registry:
    return get_object_or_404(Registry.objects.in_project(request.project), slug=slug)
