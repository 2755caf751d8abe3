"""A dataset's frozen versions: the list, freezing one, and saying what one is."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from labeling import services
from labeling.errors import InvalidAct
from labeling.forms.datasets import DescribeForm, FreezeForm
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


@require_http_methods(["GET", "HEAD", "POST"])
def version_describe(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Change the note and the tags of a frozen version."""
    found = version_of(request, dataset, version)
    form = DescribeForm(request.POST or None, initial={"note": found.note, "tags": " ".join(found.tags)})
    context = {"dataset": found.dataset, "here": "versions", "version": found, "form": form, "is_taken": False}
    if request.method == "POST" and form.is_valid():
        try:
            services.version_describe(
                version=found, actor=request.user, **form.cleaned_data, move="move" in request.POST
            )
            return redirect("labeling:versions", request.project.slug, found.dataset.slug)
        except InvalidAct as error:
            form.add_error("tags", str(error))
            context["is_taken"] = True
    status = 409 if context["is_taken"] else 422 if form.errors else 200
    return render(request, "labeling/version_describe.html", context, status=status)


def version_of(request: ProjectRequest, dataset: str, version: str) -> DatasetVersion:
    """Return the frozen version that an address names by number or tag. Raises Http404."""
    rows = DatasetVersion.objects.in_project(request.project).filter(dataset__slug=dataset)
    found = rows.select_related("dataset__project", "dataset__default_tools__registry", "actor").called(version)
    if found is None:
        raise Http404
    return found
