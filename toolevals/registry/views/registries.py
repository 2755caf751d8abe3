"""Pages of registries: the list, one registry with publishing, a version, and what changed between two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument, Problem
from toolevals.grading.values import ToolSpec
from toolevals.registry import lists
from toolevals.registry.changes import version_changes
from toolevals.registry.forms import MAX_BYTES, McpForm, PublishForm, RegistryForm
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.schema_rows import SchemaRow, schema_rows
from toolevals.registry.services import registry_create, registry_publish
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file

MAX_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class ShownTool:
    """A tool as its version's page shows it."""

    spec: ToolSpec
    rows: tuple[SchemaRow, ...]
    marks: tuple[str, ...]


@require_http_methods(["GET", "POST"])
def registries(request: ProjectRequest) -> HttpResponse:
    """List the project's registries; by POST, add one."""
    form = RegistryForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid():
        registry = registry_create(project=request.project, actor=request.user, **form.cleaned_data)
        return redirect("registry:registry", request.project.slug, registry.slug)
    rows = Registry.objects.in_project(request.project).with_newest()
    return render(request, "registry/registries.html", {"registries": rows, "form": form})


@require_safe
def registries_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the registries, the newest first."""
    rows = rows_of(Registry.objects.in_project(request.project).with_newest())
    return csv_file("registries", lists.REGISTRIES, lists.registry_lines(rows))


@require_http_methods(["GET", "POST"])
def registry(request: ProjectRequest, registry: str) -> HttpResponse:
    """Show a registry's versions, newest first; by POST, publish one."""
    found = get_object_or_404(Registry.objects.in_project(request.project), slug=registry)
    form = PublishForm(request.POST or None, request.FILES or None)
    problems: list[Problem] = []
    if request.method == "POST" and form.is_valid():
        try:
            version = registry_publish(
                registry=found,
                actor=request.user,
                document=load_json(form.cleaned_data["content"], max_bytes=MAX_BYTES),
                format=form.cleaned_data["format"],
                note=form.cleaned_data["note"],
            )
            return redirect("registry:version", request.project.slug, found.slug, version.number)
        except InvalidDocument as error:
            problems = list(error.problems)
    return registry_page(request, found, form, McpForm(project=request.project), problems)


def registry_page(
    request: ProjectRequest, registry: Registry, form: PublishForm, mcp: McpForm, problems: Sequence[Problem] = ()
) -> HttpResponse:
    """Show a registry's versions beside both ways to publish the next."""
    context = {
        "registry": registry,
        "form": form,
        "mcp": mcp,
        "problems": problems[:MAX_PROBLEMS],
        "more_problems": max(len(problems) - MAX_PROBLEMS, 0),
        "page": page_of(registry.versions.select_related("actor", "tools"), request.GET.get("before", "")),
    }
    status = 422 if problems or form.errors or mcp.errors else 200
    return render(request, "registry/registry.html", context, status=status)


@require_safe
def versions_csv(request: ProjectRequest, registry: str) -> StreamingHttpResponse:
    """Send a registry's versions, the newest first."""
    found = get_object_or_404(Registry.objects.in_project(request.project), slug=registry)
    rows = rows_of(found.versions.select_related("actor", "tools"))
    return csv_file(f"{found.slug}-versions", lists.VERSIONS, lists.version_lines(rows))


@require_GET
def version(request: ProjectRequest, registry: str, number: int) -> HttpResponse:
    """Show a version's tools with their arguments."""
    found = _version(request, registry, number)
    context = {
        "version": found,
        "registry": found.registry,
        "tools": [_shown(spec) for spec in tools_in(found.tools)],
        "earlier": found.registry.versions.filter(number__lt=number).first(),
    }
    return render(request, "registry/version.html", context)


@require_GET
def changes(request: ProjectRequest, registry: str, number: int, before: int) -> HttpResponse:
    """Show what changed from one version to another."""
    newer, older = _version(request, registry, number), _version(request, registry, before)
    found = version_changes(tools_in(older.tools), tools_in(newer.tools))
    context = {
        "registry": newer.registry,
        "newer": newer,
        "older": older,
        "changes": found,
        "unchanged": newer.tools.size - sum(change.kind != "removed" for change in found),
        "versions": newer.registry.versions.values_list("number", flat=True)[:50],
    }
    return render(request, "registry/changes.html", context)


def _version(request: ProjectRequest, registry: str, number: int) -> RegistryVersion:
    rows = RegistryVersion.objects.in_project(request.project)
    return get_object_or_404(rows.select_related("registry", "tools", "actor"), registry__slug=registry, number=number)


def _shown(spec: ToolSpec) -> ShownTool:
    said = spec.annotations
    marks = [
        "destructive" if said.destructive else "",
        "reads" if said.read_only else "writes" if said.read_only is False else "",
        "can be repeated" if said.idempotent else "",
        f"cost {spec.cost:g}" if spec.cost is not None else "",
    ]
    return ShownTool(spec, tuple(schema_rows(spec.input_schema)), tuple(filter(None, marks)))
