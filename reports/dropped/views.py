"""Show a file that was dropped on a project's first page: its format, its contents, and where it goes."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from labeling.imports.formats import SOURCES
from labeling.imports.services import import_start
from reports.dropped.forms import DatasetTarget, RegistryTarget, RunTarget
from reports.dropped.preview import KIND, FileContent, file_drop, looked_at, looked_by
from toolevals.grading.reading.specs import Choice, document_in
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.services import registry_publish
from toolevals.runs.runs.requesting import run_request_upload
from toolevals.runs.runs.views import initial_of
from toolevals.workspace.models import Job, Upload
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.uploads.services import upload_discard

# What the content of each kind of file can be stored as.
GOES_TO = {
    "tools": ("tools",),
    "examples": ("examples",),
    "predictions": ("predictions",),
    "evaluation": ("examples", "predictions"),
}
TARGETS: dict[str, Any] = {"tools": RegistryTarget, "examples": DatasetTarget, "predictions": RunTarget}


@require_POST
def drop(request: ProjectRequest) -> HttpResponse:
    """Take a file and go to what it is; one of no known format is refused and not kept."""
    file = request.FILES.get("file")
    if file is None:
        return render(request, "reports/dropped_refused.html", {"problems": ["Choose a file."]}, status=422)
    name = file.name or "file"
    try:
        upload, _ = file_drop(project=request.project, actor=request.user, file=file, name=name)
    except InvalidDocument as error:
        context = {"name": name, "problems": error.problems}
        return render(request, "reports/dropped_refused.html", context, status=422)
    return redirect("reports:dropped", request.project.slug, upload.pk)


@require_safe
def dropped(request: ProjectRequest, upload: UUID) -> HttpResponse:
    """Show what a file is and holds, and where it can go."""
    return _page(request, _upload(request, upload))


@require_POST
def dropped_store(request: ProjectRequest, upload: UUID, target: str) -> HttpResponse:
    """Store what a file holds by the import of its kind."""
    row = _upload(request, upload)
    try:
        looked = _looked(row, _job(row))
    except InvalidDocument:
        looked = None
    if looked is None or target not in _targets(looked):
        return _page(request, row, status=409)
    form = _form(request, target, looked, row, request.POST)
    if form.is_valid():
        try:
            return _STORES[target](request, row, looked, form)
        except InvalidDocument as error:
            for problem in error.problems:
                form.add_error(None, str(problem))
        except forms.ValidationError as error:
            form.add_error(None, error)
    return _page(request, row, {target: form}, status=422)


@require_POST
def dropped_discard(request: ProjectRequest, upload: UUID) -> HttpResponse:
    """Delete a dropped file."""
    upload_discard(upload=_upload(request, upload), actor=request.user)
    return redirect("workspace:project", request.project.slug)


def _page(
    request: ProjectRequest, upload: Upload, asked: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    job = _job(upload)
    problems: Any = ()
    looked = None
    try:
        looked = _looked(upload, job)
    except InvalidDocument as error:
        problems, status = error.problems, 422
    targets = {}
    if looked is not None:
        targets = {name: _form(request, name, looked, upload) for name in _targets(looked)} | (asked or {})
    context = {
        "upload": upload,
        "job": job,
        "looked": looked,
        "look": looked.look if looked else None,
        "preview": looked.tools if looked else None,
        "targets": targets,
        "problems": problems,
        "text": _text(upload) if looked and looked.look.kind.kind == "gate" else "",
    }
    return render(request, "reports/dropped.html", context, status=status)


def _targets(looked: FileContent) -> tuple[str, ...]:
    """Return what a file can be stored as."""
    kinds = GOES_TO.get(looked.look.kind.kind, ())
    return tuple(kind for kind in kinds if looked.look.kind.kind != "evaluation" or looked.look.counts.get(kind))


def _form(request: ProjectRequest, target: str, looked: FileContent, upload: Upload, data: Any = None) -> Any:
    if target != "predictions":
        initial = {"name": PurePath(upload.name).stem[:60]}
        return TARGETS[target](data, project=request.project, prefix=target, initial=initial)
    agents = looked.look.agents
    initial = initial_of(request) | {"name": agents[0] if agents else ""}
    return RunTarget(request.project, data, initial=initial, prefix=target)


def _looked(upload: Upload, job: Job | None) -> FileContent | None:
    """Return what a file holds; None while a job is still looking. Raises InvalidDocument."""
    if job is not None:
        return looked_by(job)
    with upload.file.open("rb") as file:
        return looked_at(file.read())


def _job(upload: Upload) -> Job | None:
    """Return the job that looks at a large file."""
    path = reverse("reports:dropped", args=[upload.project.slug, upload.pk])
    return Job.objects.filter(project=upload.project, kind=KIND, result_path=path).with_progress().first()


def _upload(request: ProjectRequest, pk: UUID) -> Upload:
    row = get_object_or_404(Upload.objects.filter(project=request.project, user=request.user), pk=pk)
    row.project = request.project
    return row


def _text(upload: Upload) -> str:
    with upload.file.open("rb") as file:
        content: bytes = file.read()
    return content.decode("utf-8-sig", "replace")


def _publish(request: ProjectRequest, upload: Upload, looked: FileContent, form: Any) -> HttpResponse:
    names = frozenset(request.POST.getlist("tool"))
    if not names:
        raise InvalidDocument.at("", "no tool is chosen: tick at least one")
    with upload.file.open("rb") as file:
        document = document_in(file.read())
    registry = form.target(request.user)
    version = registry_publish(
        registry=registry,
        actor=request.user,
        document=document,
        format=looked.look.kind.format,
        note=upload.name[:300],
        choice=Choice(tools=names),
    )
    return redirect("registry:version", request.project.slug, registry.slug, version.number)


def _import(request: ProjectRequest, upload: Upload, looked: FileContent, form: Any) -> HttpResponse:
    kind = looked.look.kind
    dataset = form.target(request.user)
    if SOURCES[kind.format].asks:
        address = reverse("labeling:import-options", args=[request.project.slug, dataset.slug, upload.pk])
        return redirect(f"{address}?source={kind.format}")
    job = import_start(dataset=dataset, actor=request.user, upload=upload, source=kind.format, evidence=kind.because)
    return redirect(f"{reverse('labeling:import', args=[request.project.slug, dataset.slug])}?job={job.pk}")


def _run(request: ProjectRequest, upload: Upload, looked: FileContent, form: Any) -> HttpResponse:
    with upload.file.open("rb") as file:
        run = run_request_upload(
            project=request.project, actor=request.user, request=form.request(), file=file, file_name=upload.name
        )
    return redirect("reports:run", request.project.slug, run.number)


_STORES = {"tools": _publish, "examples": _import, "predictions": _run}
