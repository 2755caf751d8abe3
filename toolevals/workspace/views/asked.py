"""Finds the job that a page shows, named by its address."""

from __future__ import annotations

from uuid import UUID

from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest


def job_asked(request: ProjectRequest, kind: str) -> Job | None:
    """Return the project's job of this kind that `?job=` names; None where there is none."""
    try:
        pk = UUID(request.GET.get("job", ""))
    except ValueError:
        return None
    return Job.objects.of_project(request.project).filter(kind=kind, pk=pk).with_progress().first()
