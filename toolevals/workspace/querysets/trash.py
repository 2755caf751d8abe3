"""Reads what was deleted."""

from __future__ import annotations

from django.db import models

from toolevals.workspace.models import Project, Role, User


def deleted_projects(user: User) -> models.QuerySet[Project]:
    """Return the deleted projects that a person owns, the last deleted first."""
    mine = Project.with_trash.filter(memberships__user=user, memberships__role=Role.OWNER)
    return mine.exclude(deleted_at=None).select_related("deleted_by").order_by("-deleted_at", "pk")
