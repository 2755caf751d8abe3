"""A dataset's frozen versions: the list, freezing one, and its file."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from labeling import services
from labeling.errors import InvalidAct
from labeling.forms.datasets import FreezeForm
from labeling.models import Dataset
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
