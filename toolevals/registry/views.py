"""Shows registries: the list, one registry with publishing, a version, and what changed between two."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from toolevals.grading.json_schema.conformance import unchecked_formats, why_unused
from toolevals.grading.reading.specs import Choice
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.presentation.csv import Cell
from toolevals.registry.changes import SchemaRow, schema_rows, version_changes
from toolevals.registry.forms import McpForm, PublishForm, RegistryForm
from toolevals.registry.large_documents import PREVIEW_KIND, large_preview, large_preview_start, large_publish_start
from toolevals.registry.mcp_servers import registry_fetch_begin
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.previews import LOSSES, Preview, loss_lines, preview_of
from toolevals.registry.services import registry_create, registry_publish
from toolevals.registry.strict import Fit, tool_fits
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Job, JobState, Role
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest

REGISTRIES: Final = (
    "registry_id",
    "registry",
    "name",
    "newest_version_id",
    "newest_version",
    "tools",
    "newest_at",
    "created_at",
)
VERSIONS: Final = ("version_id", "version", "tools", "digest", "note", "losses", "actor_id", "actor", "created_at")


def registry_lines(registries: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each registry that was read `with_newest`."""
    for each in registries:
        newest = each.newest_id, each.newest_number, each.newest_size, each.newest_at
        yield each.pk, each.slug, each.name, *newest, each.created_at


def version_lines(versions: Iterable[RegistryVersion]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each version that was read with its tool list and who published it."""
    for each in versions:
        who = (each.actor.pk, each.actor.name) if each.actor else (None, None)
        losses = json.dumps(each.losses, ensure_ascii=False) if each.losses else None
        yield each.pk, each.number, each.tools.size, each.tools.digest, each.note, losses, *who, each.created_at


MAX_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class PublishPage:
    """Both forms of a registry's page, what was read of a document, and what is wrong with it."""

    form: PublishForm
    mcp: McpForm
    preview: Preview | None = None
    problems: Sequence[Problem] = ()
    # What reads or has read a large document.
    job: Job | None = None
    digest: str = ""


# So many arguments of a tool are shown.
MAX_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class ShownTool:
    """A tool as its version's page shows it."""

    spec: ToolSpec
    rows: tuple[SchemaRow, ...]
    marks: tuple[str, ...]
    # How many arguments are not shown, and why no call can be checked by its schema, or a format not.
    left_out: int
    unused: str
    # What each provider's strict mode says of it.
    fits: Sequence[Fit] = ()


@require_http_methods(["GET", "POST"])
def registries(request: ProjectRequest) -> HttpResponse:
    """List the project's registries, the newest first; by POST, add one."""
    form = RegistryForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid():
        registry = registry_create(project=request.project, actor=request.user, **form.cleaned_data)
        return redirect("registry:registry", request.project.slug, registry.slug)
    page = page_of(Registry.objects.in_project(request.project).with_newest(), request.GET.get("before", ""))
    return render(request, "registry/registries.html", {"page": page, "form": form})


@require_safe
def registries_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the registries, the newest first."""
    rows = rows_of(Registry.objects.in_project(request.project).with_newest())
    return csv_file("registries", REGISTRIES, registry_lines(rows))


@require_http_methods(["GET", "POST"])
def registry(request: ProjectRequest, registry: str) -> HttpResponse:
    """Show a registry's versions, newest first; by POST, show what a document holds, or publish it."""
    found = get_object_or_404(Registry.objects.in_project(request.project), slug=registry)
    if request.method != "POST":
        return registry_page(request, found, _read(request, found))
    form = PublishForm(request.POST, request.FILES, job=_job(request, request.POST.get("job", "")))
    shown = PublishPage(form, McpForm(project=request.project), job=form.job)
    if form.is_valid():
        try:
            if "preview" in request.POST and form.is_large:
                return _waited(request, found, form)
            if form.is_large and "preview" not in request.POST:
                return _published_later(request, found, form)
            document = form.document()
            if "preview" in request.POST:
                preview = preview_of(document, format=form.cleaned_data["format"])
                shown = replace(shown, preview=preview, digest=form.digest, job=None)
            else:
                _require_shown(request, form)
                version = registry_publish(
                    registry=found,
                    actor=request.user,
                    document=document,
                    format=form.cleaned_data["format"],
                    note=form.cleaned_data["note"],
                    choice=_choice(request),
                    assert_formats=form.assert_formats,
                )
                return redirect("registry:version", request.project.slug, found.slug, version.number)
        except InvalidDocument as error:
            shown = replace(shown, problems=error.problems)
    return registry_page(request, found, shown)


def _waited(request: ProjectRequest, registry: Registry, form: PublishForm) -> HttpResponse:
    """Have a large document read by a job, and go to where it is waited for."""
    job = large_preview_start(
        registry=registry,
        actor=request.user,
        content=form.cleaned_data["content"],
        format=form.cleaned_data["format"],
        name=form.name,
    )
    return HttpResponseClientRedirect(job.result_path) if request.htmx else redirect(job.result_path)


def _published_later(request: ProjectRequest, registry: Registry, form: PublishForm) -> HttpResponse:
    """Have a large document published by a job, and go to that. Raises as publishing at once."""
    _require_shown(request, form)
    job = large_publish_start(
        registry=registry,
        actor=request.user,
        content=form.cleaned_data["content"],
        format=form.cleaned_data["format"],
        name=form.name,
        note=form.cleaned_data["note"],
        choice=_choice(request),
        assert_formats=form.assert_formats,
    )
    return redirect("workspace:job", request.project.slug, job.pk)


def _require_shown(request: ProjectRequest, form: PublishForm) -> None:
    """Raise InvalidDocument where something was shown before and this is something else."""
    if request.POST.get("previewed", form.digest) != form.digest:
        raise InvalidDocument.at("", "has changed since the preview. Look at it again")


def _read(request: ProjectRequest, registry: Registry) -> PublishPage:
    """Return the page, with what a job reads or has read of a large document where the address names it."""
    job = _job(request, request.GET.get("job", "")) if request.role >= Role.ADJUDICATOR else None
    mcp = McpForm(project=request.project)
    if job is None or job.batches.get().payload["registry"] != str(registry.pk):
        return PublishPage(PublishForm(), mcp)
    form = PublishForm({"format": job.batches.get().payload["format"]}, job=job)
    if job.state != JobState.SUCCEEDED:
        return PublishPage(PublishForm(), mcp, job=job)
    preview = large_preview(job)
    if preview is None or not form.is_valid():
        gone = Problem("", "The preview has expired: choose the file again.")
        return PublishPage(PublishForm(), mcp, problems=(gone,))
    unsent = PublishForm(initial={"format": form.cleaned_data["format"]})
    return PublishPage(unsent, mcp, preview, job=job, digest=form.digest)


def _job(request: ProjectRequest, said: str) -> Job | None:
    try:
        pk = UUID(said)
    except ValueError:
        return None
    return Job.objects.filter(project=request.project, kind=PREVIEW_KIND, pk=pk).with_progress().first()


@require_POST
def losses_csv(request: ProjectRequest, registry: str) -> HttpResponse | StreamingHttpResponse:
    """Send the losses of a document that is not published yet."""
    found = get_object_or_404(Registry.objects.in_project(request.project), slug=registry)
    job = _job(request, request.POST.get("job", ""))
    form = PublishForm(request.POST, request.FILES, job=job)
    shown = PublishPage(form, McpForm(project=request.project))
    if form.is_valid():
        try:
            preview = large_preview(job) if job and request.POST.get("previewed") == form.digest else None
            preview = preview or preview_of(form.document(), format=form.cleaned_data["format"])
            return csv_file(f"{found.slug}-losses", LOSSES, loss_lines(preview))
        except InvalidDocument as error:
            shown = replace(shown, problems=error.problems)
    return registry_page(request, found, shown)


def registry_page(request: ProjectRequest, registry: Registry, shown: PublishPage) -> HttpResponse:
    """Show a registry's versions next to both ways to publish the next; for htmx, what was read alone."""
    form, mcp, problems = shown.form, shown.mcp, shown.problems
    context = {
        "registry": registry,
        "form": form,
        "mcp": mcp,
        "problems": problems[:MAX_PROBLEMS],
        "more_problems": max(len(problems) - MAX_PROBLEMS, 0),
        "preview": shown.preview,
        "job": shown.job,
        "digest": shown.digest,
        "page": page_of(registry.versions.select_related("actor", "tools"), request.GET.get("before", "")),
    }
    if request.htmx:
        return render(request, "registry/parts/preview.html", context)
    status = 422 if problems or form.errors or mcp.errors else 200
    return render(request, "registry/registry.html", context, status=status)


def _choice(request: ProjectRequest) -> Choice:
    """Return which tools were ticked. Raises InvalidDocument where some were offered and none was taken."""
    if "previewed" not in request.POST:
        return Choice()
    if not (names := request.POST.getlist("tool")):
        raise InvalidDocument.at("", "no tool is chosen: tick at least one")
    return Choice(tools=frozenset(names))


@require_safe
def versions_csv(request: ProjectRequest, registry: str) -> StreamingHttpResponse:
    """Send a registry's versions, the newest first."""
    found = get_object_or_404(Registry.objects.in_project(request.project), slug=registry)
    rows = rows_of(found.versions.select_related("actor", "tools"))
    return csv_file(f"{found.slug}-versions", VERSIONS, version_lines(rows))


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
def strict(request: ProjectRequest, registry: str, number: int, place: int) -> HttpResponse:
    """Show what keeps a version's tool out of each provider's strict mode, with a schema that it takes."""
    found = _version(request, registry, number)
    tools = tools_in(found.tools)
    if not 0 < place <= len(tools):
        raise Http404
    tool = tools[place - 1]
    context = {"version": found, "registry": found.registry, "tool": tool, "fits": tool_fits(tool), "place": place}
    return render(request, "registry/strict.html", context)


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
        "formats asserted" if spec.assert_formats else "",
    ]
    rows = schema_rows(spec.input_schema)
    shown, left_out = tuple(rows[:MAX_ROWS]), max(len(rows) - MAX_ROWS, 0)
    unused = why_unused(spec) or unchecked_formats(spec)
    return ShownTool(spec, shown, tuple(filter(None, marks)), left_out, unused, tool_fits(spec))


@require_POST
def fetch(request: ProjectRequest, registry: str) -> HttpResponse:
    """Begin to ask the server for its tools, to publish them, and show the job."""
    found = get_object_or_404(Registry.objects.in_project(request.project), slug=registry)
    form = McpForm(request.POST, project=request.project)
    if form.is_valid():
        try:
            job = registry_fetch_begin(registry=found, actor=request.user, **form.asked())
            return redirect("workspace:job", request.project.slug, job.pk)
        except InvalidDocument as error:
            form.add_problems(error)
    return registry_page(request, found, PublishPage(PublishForm(), form))
