"""Store when people were here."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.models.projects import Project
from toolevals.workspace.models.users import User


class Visit(models.Model):
    """One person's last visit to a project's first page, and when the one before it ended."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    seen_at = models.DateTimeField()
    # Null at the first visit.
    before = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "project"], name="one_visit_each"),
        ]
