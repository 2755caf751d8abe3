"""Export examples: the page, files at once, and files that a job has written."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from labeling.examples.shown_strata import hidden_strata
from labeling.exports import FORMATS, ExportFormat, Selection
from labeling.exports.services import HIDES_STRATA, KIND, MOST_AT_ONCE, export_start, export_tells
from labeling.imports.forms import ExportForm
from labeling.models import Dataset
from labeling.versions.views import version_of
from toolevals.workspace.file_responses import job_asked, stored_response
from toolevals.workspace.jobs.files import KEPT, job_file
from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def exports(request: ProjectRequest, dataset: str) -> HttpResponseBase:
    """Ask for format and version; by POST, send the file or begin the job that writes it."""
    dataset_row = _dataset(request, dataset)
    job_shown = job_asked(request, KIND)
    initial = {
        "version": request.GET.get("version", ""),
        "format": job_shown.report.get("format", "jsonl") if job_shown else "jsonl",
    }
    form = ExportForm(request.POST or None, dataset=dataset_row, initial=initial)
    if request.method == "POST" and form.is_valid():
        export_format = FORMATS[form.cleaned_data["format"]]
        selection = Selection(dataset_row, form.cleaned_data["version"], hidden_strata(dataset_row, request.role))
        if export_format.says_all and selection.size <= MOST_AT_ONCE:
            return redirect(_address(request, selection, export_format))
        job = export_start(selection=selection, actor=request.user, format=export_format.name)
        return redirect(job.result_path)
    context = {
        "dataset": dataset_row,
        "here": "export",
        "form": form,
        "formats": FORMATS.values(),
        "job": job_shown,
        "file": job_file(job_shown) if job_shown and export_tells(job_shown, request.role) else None,
        "kept_until": _kept_until(job_shown),
        "notes": _notes(job_shown.report) if job_shown else [],
    }
    return render(request, "labeling/export.html", context, status=422 if form.errors else 200)


@require_GET
def export(request: ProjectRequest, dataset: str) -> HttpResponseBase:
    """Send the dataset as it is now, with the gold in force, in the format that `?as=` names: JSON Lines by default."""
    dataset_row = _dataset(request, dataset)
    return _sent(request, Selection(dataset_row, hidden=hidden_strata(dataset_row, request.role)))


@require_GET
def version_export(request: ProjectRequest, dataset: str, version: str) -> HttpResponseBase:
    """Send a frozen version, as `export` does the dataset."""
    version_row = version_of(request, dataset, version)
    return _sent(request, Selection(version_row.dataset, version_row))


@require_GET
def export_file(request: ProjectRequest, dataset: str, export: UUID) -> HttpResponseBase:
    """Send the file that a job has written; 410 when its day is over."""
    job = get_object_or_404(Job.objects.of_project(request.project), kind=KIND, pk=export)
    if not export_tells(job, request.role):
        return HttpResponse(HIDES_STRATA, status=HTTPStatus.FORBIDDEN, content_type="text/plain; charset=utf-8")
    upload = job_file(job)
    if upload is None:
        return HttpResponse("This file has expired. Export it again.", status=HTTPStatus.GONE)
    return stored_response(upload)


def _sent(request: ProjectRequest, selection: Selection) -> HttpResponseBase:
    export_format = FORMATS.get(request.GET.get("as", "jsonl"))
    if export_format is None:
        raise Http404
    if missing := export_format.missing():
        return HttpResponse(missing, status=HTTPStatus.UNPROCESSABLE_ENTITY, content_type="text/plain; charset=utf-8")
    return export_format.response(selection)


def _address(request: ProjectRequest, selection: Selection, export_format: ExportFormat) -> str:
    slugs = [request.project.slug, selection.dataset.slug]
    if selection.version:
        address = reverse("labeling:version-export", args=[*slugs, selection.version.number])
    else:
        address = reverse("labeling:export", args=slugs)
    return f"{address}?{urlencode({'as': export_format.name})}"


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    return get_object_or_404(Dataset.objects.in_project(request.project), slug=slug)


def _kept_until(job: Job | None) -> datetime | None:
    return job.finished_at + KEPT if job and job.finished_at else None


def _notes(report: Any) -> list[tuple[str, int, bool]]:
    """Return each reason, how many examples it concerns, and whether they were left out."""
    skipped = [(reason, count, True) for reason, count in report.get("skipped_by_reason", {}).items()]
    return skipped + [(reason, count, False) for reason, count in report.get("notes", {}).items()]
