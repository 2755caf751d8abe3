"""A dataset's frozen versions: the list, freezing one, and its file."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from labeling import services
from labeling.errors import InvalidAct
from labeling.exports import version_lines
from labeling.forms.datasets import FreezeForm
from labeling.models import Dataset, DatasetVersion
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def versions(request: ProjectRequest, dataset: str) -> HttpResponse:
    """List the frozen versions, newest first; by POST, freeze one."""
    found = get_object_or_404(Dataset.objects.in_project(request.project).with_counts(), slug=dataset)
    form = FreezeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.version_freeze(dataset=found, actor=request.user, note=form.cleaned_data["note"])
            return redirect("labeling:versions", request.project.slug, found.slug)
        except InvalidAct as error:
            form.add_error(None, str(error))
    rows = found.versions.select_related("actor")
    context = {
        "dataset": found,
        "here": "versions",
        "form": form,
        "page": page_of(rows, request.GET.get("before", "")),
    }
    return render(request, "labeling/versions.html", context, status=409 if form.errors else 200)


@require_GET
def version_export(request: ProjectRequest, dataset: str, number: int) -> HttpResponseBase:
    """Send a frozen version as native JSON Lines."""
    rows = DatasetVersion.objects.in_project(request.project)
    found = get_object_or_404(rows, dataset__slug=dataset, number=number)
    response = StreamingHttpResponse(version_lines(found), content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="{found.dataset.slug}-{found.number}.jsonl"'
    return response
