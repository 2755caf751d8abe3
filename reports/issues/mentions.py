"""Tell where a mentioned person reads a note of an issue."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.urls import reverse

from reports.issues.models import IssueEvent
from toolevals.workspace.mentions.queries import Place
from toolevals.workspace.models import Project, Role, User


def places(project: Project, ids: Collection[UUID], user: User, role: Role) -> dict[UUID, Place]:
    """Return the places of the notes: every member reads them. No words name the issue: its name is a reason."""
    notes = IssueEvent.objects.filter(issue__project=project, pk__in=ids).values_list("pk", "issue")
    return {
        pk: Place("a note on an issue", reverse("reports:issue", args=[project.slug, issue]) + "#history")
        for pk, issue in notes
    }
