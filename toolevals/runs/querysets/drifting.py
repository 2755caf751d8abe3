"""Read checks of judges for drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Q, Sum

from toolevals.workspace.models import untrashed

if TYPE_CHECKING:
    from toolevals.runs.models import DriftCheck, Judge  # noqa: F401
    from toolevals.workspace.models import Project


class DriftCheckQuerySet(models.QuerySet["DriftCheck"]):
    """Reads of checks for drift."""

    def in_project(self, project: Project) -> DriftCheckQuerySet:
        """Return the project's checks with their judges and calibrations, the newest first."""
        related = "judge__rubric", "judge__project", "calibration__grading__run", "actor", "job"
        return (
            self.filter(untrashed("calibration__grading__run"), judge__project=project)
            .select_related(*related)
            .order_by("-id")
        )

    def of_judge(self, judge: Judge) -> DriftCheckQuerySet:
        """Return the checks of a judge's rubric version and model, whichever judge asked by them."""
        return self.filter(judge__rubric=judge.rubric_id, judge__model=judge.model)

    def with_spending(self) -> Any:
        """Add `asked`, how many questions were asked again, and `cost` of it (None without prices)."""
        return self.annotate(asked=Count("answers"), cost=Sum("answers__cost"))

    def under_way(self) -> DriftCheckQuerySet:
        """Return those whose job may still go on by itself."""
        return self.filter(Q(job__state="running") | Q(job__state="paused"), finished_at=None)
