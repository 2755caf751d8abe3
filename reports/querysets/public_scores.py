"""Read published scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from toolevals.workspace.models import Project

if TYPE_CHECKING:
    from reports.models import PublicScore  # noqa: F401


class PublicScoreQuerySet(models.QuerySet["PublicScore"]):
    """Reads of published scores."""

    def in_project(self, project: Project) -> PublicScoreQuerySet:
        """Return a project's scores, by benchmark, then by what was measured, the newest first."""
        scores = self.filter(project=project).select_related("actor", "ended_by")
        return scores.order_by("benchmark", "version", "metric", "agent", "-pk")

    def in_force(self) -> PublicScoreQuerySet:
        """Return those that no one has replaced or withdrawn."""
        return self.filter(ended_at__isnull=True)
