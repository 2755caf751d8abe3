"""Import examples: a file, the contents of its columns where it has columns, and the progress of the import."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from labeling.imports.findings import import_lines_file
from labeling.imports.formats import AUTO, SOURCES, DetectedSource, Source, source_of
from labeling.imports.forms import ColumnsForm, ConversationsForm, ImportForm, RecordedForm
from labeling.imports.gzip_files import unpacked
from labeling.imports.services import import_start
from labeling.imports.tables import Preview, preview
from labeling.models import Dataset
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.file_responses import job_asked, stored_response
from toolevals.workspace.models import Job, Upload
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.uploads.services import stored_together, upload_store

REPORT_WORDS = {
    "added": "new",
    "revised": "with other content, as a further revision",
    "gold_changed": "with newer imported gold",
    "disputed": "with an expectation that differs from people’s gold: disputed",
    "strata_changed": "with other strata",
    "decided_by_changed": "decided by something else",
    "unchanged": "unchanged",
    "labels": "labels given elsewhere; if they were blind is not known",
    "labels_of_people": "people who gave them",
    "labels_changed": "of these labels changed since the last import",
    "labels_too_late": "changed labels left out: their examples are resolved",
    "notes": "notes by people elsewhere, which are not labels",
}


@require_http_methods(["GET", "POST"])
def import_examples(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Take a file of examples and show how its import goes."""
    dataset_row = _dataset(request, dataset)
    form = ImportForm(request.POST or None, request.FILES or None, initial={"source": AUTO})
    if request.method == "POST" and form.is_valid():
        try:
            return _taken(request, dataset_row, form.cleaned_data)
        except InvalidDocument as error:
            form.add_error("file", [str(problem) for problem in error.problems])
    job = job_asked(request, "import")
    context = {
        "dataset": dataset_row,
        "here": "import",
        "form": form,
        "sources": SOURCES.values(),
        "job": job,
        "report": _report_words(job.report) if job and not job.is_open else [],
        "lines": import_lines_file(job) if job else None,
    }
    return render(request, "labeling/import.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def import_options(request: ProjectRequest, dataset: str, upload: UUID) -> HttpResponse:
    """Ask what a file's columns hold, or what becomes of its runs or conversations; by POST, import it."""
    dataset_row = _dataset(request, dataset)
    source = SOURCES.get(request.GET.get("source", "csv"))
    if source is None or not source.asks:
        raise Http404
    file = get_object_or_404(Upload.objects.filter(project=request.project), pk=upload)
    try:
        table = _preview(file) if source.shape == "table" else None
    except InvalidDocument as error:
        problems = [str(problem) for problem in error.problems]
        context = {"dataset": dataset_row, "here": "import", "upload": file, "problems": problems}
        return render(request, "labeling/import_options.html", context, status=422)
    data = request.POST or None
    form: ColumnsForm | ConversationsForm | RecordedForm
    if table:
        form = ColumnsForm(data, table=table, tools=_tools(dataset_row))
    else:
        form = ConversationsForm(data) if source.decides else RecordedForm(data)
    if request.method == "POST" and form.is_valid():
        return _started(request, dataset_row, file, source, form.options)
    context = {"dataset": dataset_row, "here": "import", "upload": file, "form": form, "table": table}
    return render(request, "labeling/import_options.html", context, status=422 if form.errors else 200)


@require_GET
def import_lines(request: ProjectRequest, dataset: str, job: UUID) -> HttpResponseBase:
    """Send what became of each line of an import, as CSV; 410 when the file is no longer kept."""
    job_row = get_object_or_404(Job.objects.of_project(request.project), kind="import", pk=job)
    upload = import_lines_file(job_row)
    if upload is None:
        return HttpResponse("The per-line results have expired.", status=HTTPStatus.GONE)
    return stored_response(upload)


def _taken(request: ProjectRequest, dataset: Dataset, given: dict[str, Any]) -> HttpResponse:
    """Keep the file; ask on about it, or import it. Raises InvalidDocument."""
    file = given["file"]
    found = source_of(file) if given["source"] == AUTO else DetectedSource(SOURCES[given["source"]], "")
    source = found.source
    file.seek(0)
    with stored_together():
        upload = upload_store(project=request.project, actor=request.user, file=file, name=file.name or "examples")
        if source.asks:
            address = reverse("labeling:import-options", args=[request.project.slug, dataset.slug, upload.pk])
            return redirect(f"{address}?source={source.name}")
        return _started(request, dataset, upload, source, {}, evidence=found.evidence)


def _started(
    request: ProjectRequest,
    dataset: Dataset,
    upload: Upload,
    source: Source,
    options: dict[str, Any],
    *,
    evidence: str = "",
) -> HttpResponse:
    job = import_start(
        dataset=dataset, actor=request.user, upload=upload, source=source.name, options=options, evidence=evidence
    )
    address = reverse("labeling:import", args=[request.project.slug, dataset.slug])
    return redirect(f"{address}?job={job.pk}")


def _preview(upload: Upload) -> Preview:
    with upload.file.open("rb") as file, unpacked(file) as plain:
        return preview(plain)


def _tools(dataset: Dataset) -> Sequence[ToolSpec]:
    return tools_in(dataset.default_tools.tools) if dataset.default_tools else ()


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    return get_object_or_404(
        Dataset.objects.in_project(request.project).select_related("default_tools__tools"), slug=slug
    )


def _report_words(report: Any) -> list[str]:
    return [f"{report[key]:,} {words}" for key, words in REPORT_WORDS.items() if report.get(key)]
