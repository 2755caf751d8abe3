"""Start a run: of the baseline, or of predictions that were made elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from labeling.models import DatasetVersion
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.forms import BaselineForm, RunForm, UploadForm
from toolevals.runs.models import Run
from toolevals.runs.services.requesting import run_request_baseline, run_request_upload
from toolevals.workspace.models import within
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: ProjectRequest) -> HttpResponse:
    """Show both forms; by POST, start a run of the baseline."""
    form = BaselineForm(request.project, request.POST or None, initial=initial_of(request), prefix="baseline")
    if request.method == "POST" and form.is_valid():
        run = _started(form, lambda: run_request_baseline(**_who(request), request=form.request()))
        if run:
            return redirect("reports:run", request.project.slug, run.number)
    return _page(request, form, UploadForm(request.project, initial=initial_of(request), prefix="upload"))


@require_POST
def upload(request: ProjectRequest) -> HttpResponse:
    """Start a run of uploaded predictions."""
    form = UploadForm(request.project, request.POST, request.FILES, prefix="upload")
    if form.is_valid():
        file = form.cleaned_data["file"]
        run = _started(
            form,
            lambda: run_request_upload(**_who(request), request=form.request(), file=file, file_name=file.name or ""),
        )
        if run:
            return redirect("reports:run", request.project.slug, run.number)
    return _page(request, BaselineForm(request.project, initial=initial_of(request), prefix="baseline"), form)


def _who(request: ProjectRequest) -> dict[str, Any]:
    return {"project": request.project, "actor": request.user}


def _started(form: RunForm, start: Callable[[], Run]) -> Run | None:
    """Return the run, or None with what is wrong shown in the form."""
    try:
        return start()
    except InvalidDocument as error:
        form.add_problems(error)
        return None


def initial_of(request: ProjectRequest) -> dict[str, Any]:
    """Return what the address fills in, `?experiment=` and `?dataset_version=`; by default the newest version."""
    newest = DatasetVersion.objects.filter(within(request.project, "dataset")).order_by("-pk").first()
    wanted = {key: request.GET[key] for key in ("experiment", "dataset_version") if key in request.GET}
    return {"trials": 1, "dataset_version": newest, **wanted}


def _page(request: ProjectRequest, baseline: BaselineForm, upload: UploadForm) -> HttpResponse:
    context = {
        "baseline": baseline,
        "upload": upload,
        "connectors": CONNECTORS,
        "experiments": baseline.experiments,
        "has_versions": baseline.fields["dataset_version"].queryset.exists(),  # type: ignore[attr-defined]
    }
    status = 422 if baseline.errors or upload.errors else 200
    return render(request, "runs/new.html", context, status=status)
