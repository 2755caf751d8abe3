"""Shows the pages of deleting: what would go with a thing, what is in the trash, restoring and destroying it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Job, Project
from toolevals.workspace.requests import ProjectRequest, SignedInRequest
from toolevals.workspace.trash.kinds import TrashKind, trash_kinds
from toolevals.workspace.trash.lists import TrashPage, deleted_projects, person_trash, project_trash, trash_page
from toolevals.workspace.trash.services import (
    TrashError,
    deletion_of,
    jobs_destroying,
    trash_destroy,
    trash_put,
    trash_restore,
)


@dataclass(frozen=True, slots=True)
class Trashed:
    """A deleted thing as its page shows it."""

    kind: str
    row: Any
    title: str
    key: str
    restore_url: str
    destroy_url: str
    # What destroys it, once it is due.
    job: Job | None

    @property
    def is_going(self) -> bool:
        """Return whether it is being destroyed."""
        return self.row.tombstone is not None

    @property
    def is_due(self) -> bool:
        """Return whether a job destroys it next; until it begins, the thing can be restored."""
        return self.gone_at is not None and self.gone_at <= database_now()

    @property
    def gone_at(self) -> datetime | None:
        """Return when it is destroyed."""
        moment: datetime | None = self.row.destroy_at
        return moment


@require_GET
def trash(request: ProjectRequest) -> HttpResponse:
    """List what was deleted in a project, the last deleted first, and the tombstones."""
    items = trash_page(project_trash(request.project), request.GET.get("before", ""))
    gone = trash_page(project_trash(request.project), request.GET.get("destroyed", ""), destroyed=True)
    context = {
        "items": _of_project(request.project, items),
        "tombstones": _of_project(request.project, gone),
        "older": items.older,
        "older_gone": gone.older,
        "is_first": not request.GET.get("before"),
    }
    return render(request, "workspace/trash.html", context)


@require_http_methods(["GET", "POST"])
def delete(request: ProjectRequest, kind: str, thing: UUID) -> HttpResponse:
    """Say what goes with a thing and what stays; by POST, move it to the trash."""
    found = _kind(kind, of_project=True)
    row = get_object_or_404(found.rows(request.project), pk=thing, deleted_at=None)
    if request.method == "GET":
        context = {
            "kind": found.name,
            "row": row,
            "title": found.title(row),
            **deletion_of(found, row),
            "jobs": found.jobs(row).open().count(),
        }
        return render(request, "workspace/delete.html", context)
    try:
        trash_put(row=row, actor=request.user)
    except TrashError as error:
        messages.error(request, str(error))
    else:
        messages.info(request, f"Deleted: {found.kind_title(row)}. It can be restored from the trash for 30 days.")
    if found.model is Project:
        return redirect("workspace:deleted-projects")
    return redirect("workspace:trash", request.project.slug)


@require_POST
def restore(request: ProjectRequest, kind: str, item: UUID) -> HttpResponse:
    """Take a thing out of the trash."""
    found = _kind(kind)
    _restore(request, found, get_object_or_404(found.rows(request.project), pk=item))
    return redirect("workspace:trash", request.project.slug)


@require_POST
def destroy(request: ProjectRequest, kind: str, item: UUID) -> HttpResponse:
    """Have a thing in the trash destroyed now, where its name is typed."""
    found = _kind(kind)
    _destroy(request, found, get_object_or_404(found.rows(request.project), pk=item))
    return redirect("workspace:trash", request.project.slug)


@require_GET
def deleted(request: SignedInRequest) -> HttpResponse:
    """List the deleted projects that a person owns."""
    page = trash_page(person_trash(request.user), request.GET.get("before", ""))
    items = [
        _trashed(
            kind,
            row,
            reverse("workspace:deleted-project-restore", args=[row.pk]),
            reverse("workspace:deleted-project-destroy", args=[row.pk]),
            job,
        )
        for kind, row, job in _with_jobs(page)
    ]
    context = {"items": items, "older": page.older, "is_first": not request.GET.get("before")}
    return render(request, "workspace/deleted_projects.html", context)


@require_POST
def deleted_restore(request: SignedInRequest, gone: UUID) -> HttpResponse:
    """Take a project out of the trash."""
    _restore(request, trash_kinds()["project"], get_object_or_404(deleted_projects(request.user), pk=gone))
    return redirect("workspace:deleted-projects")


@require_POST
def deleted_destroy(request: SignedInRequest, gone: UUID) -> HttpResponse:
    """Have a project in the trash destroyed now, where its short name is typed."""
    _destroy(request, trash_kinds()["project"], get_object_or_404(deleted_projects(request.user), pk=gone))
    return redirect("workspace:deleted-projects")


def _of_project(project: Project, page: TrashPage) -> list[Trashed]:
    return [
        _trashed(
            kind,
            row,
            reverse("workspace:trash-restore", args=[project.slug, kind.name, row.pk]),
            reverse("workspace:trash-destroy", args=[project.slug, kind.name, row.pk]),
            job,
        )
        for kind, row, job in _with_jobs(page)
    ]


def _with_jobs(page: TrashPage) -> Iterator[tuple[TrashKind, Any, Job | None]]:
    jobs = jobs_destroying(row for _, row in page.rows)
    yield from ((kind, row, jobs.get(row.pk)) for kind, row in page.rows)


def _trashed(kind: TrashKind, row: Any, restore_url: str, destroy_url: str, job: Job | None) -> Trashed:
    return Trashed(kind.name, row, kind.title(row), kind.key(row), restore_url, destroy_url, job)


def _restore(request: SignedInRequest, kind: TrashKind, row: Any) -> None:
    try:
        trash_restore(row=row, actor=request.user)
    except TrashError as error:
        messages.error(request, str(error))
    else:
        messages.info(request, f"Restored: {kind.kind_title(row)}.")


def _destroy(request: SignedInRequest, kind: TrashKind, row: Any) -> None:
    try:
        trash_destroy(row=row, actor=request.user, typed=request.POST.get("typed", ""))
    except TrashError as error:
        messages.error(request, str(error))
    else:
        messages.info(request, f"A job is deleting it permanently: {kind.kind_title(row)}.")


def _kind(name: str, *, of_project: bool = False) -> TrashKind:
    """Return the kind of that name. Raises Http404."""
    found = trash_kinds().get(name)
    if found is None or (found.model is Project and not of_project):
        raise Http404
    return found
