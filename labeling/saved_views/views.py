"""Save the filters of a list of examples as a view, and delete it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from labeling.errors import InvalidAct
from labeling.examples.listing import asked_of, query_of
from labeling.models import Dataset, SavedView
from labeling.saved_views.services import view_delete, view_save
from toolevals.workspace.requests import ProjectRequest


@require_POST
def saved_views(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Keep what the list shows under a name."""
    query = query_of(asked_of(QueryDict(request.POST.get("query", ""))))
    name = request.POST.get("name", "")
    try:
        view_save(project=request.project, actor=request.user, name=name, query=query)
        messages.info(request, f"The view “{name.strip()}” is saved. You find it above every list of examples here.")
    except InvalidAct as error:
        messages.error(request, str(error))
    except ValidationError:
        messages.error(
            request, "The view was not saved: choose a filter first, and give it a name of 60 characters at most."
        )
    return redirect(f"{_list(request, dataset)}?{query}")


@require_POST
def saved_view_delete(request: ProjectRequest, dataset: str, view: UUID) -> HttpResponse:
    """Drop one of one's views."""
    own = SavedView.objects.filter(project=request.project, user=request.user)
    view_row = get_object_or_404(own.select_related("project"), pk=view)
    view_delete(view=view_row, actor=request.user)
    messages.info(request, f"The view “{view_row.name}” is deleted. The examples are as they were.")
    return redirect(_list(request, dataset))


def _list(request: ProjectRequest, dataset: str) -> str:
    slug = get_object_or_404(Dataset.objects.in_project(request.project), slug=dataset).slug
    return reverse("labeling:dataset", args=[request.project.slug, slug])
