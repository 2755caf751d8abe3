"""Read checks of judges: for drift, and with probes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from django.db import models
from django.db.models import Count, Q, Sum

from toolevals.workspace.models import untrashed

if TYPE_CHECKING:
    from toolevals.runs.models import DriftCheck, Judge, ProbeCheck  # noqa: F401
    from toolevals.workspace.models import Project

_Check = TypeVar("_Check", bound=models.Model)


class JudgeCheckQuerySet(models.QuerySet[_Check]):
    """Reads of checks of either kind."""

    def of_judge(self, judge: Judge) -> Self:
        """Return the checks of a judge's rubric version and model, whichever judge asked by them."""
        return self.filter(judge__rubric=judge.rubric_id, judge__model=judge.model)

    def with_spending(self) -> Any:
        """Add `asked`, how many questions were asked, and `cost` of it (None without prices)."""
        return self.annotate(asked=Count("answers"), cost=Sum("answers__cost"))

    def under_way(self) -> Self:
        """Return those whose job may still go on by itself."""
        return self.filter(Q(job__state="running") | Q(job__state="paused"), finished_at=None)


class DriftCheckQuerySet(JudgeCheckQuerySet["DriftCheck"]):
    """Reads of checks for drift."""

    def in_project(self, project: Project) -> DriftCheckQuerySet:
        """Return the project's checks with their judges and calibrations, the newest first."""
        related = "judge__rubric", "judge__project", "calibration__grading__run", "actor", "job"
        return (
            self.filter(untrashed("calibration__grading__run"), judge__project=project)
            .select_related(*related)
            .order_by("-id")
        )


class ProbeCheckQuerySet(JudgeCheckQuerySet["ProbeCheck"]):
    """Reads of checks with probes."""

    def in_project(self, project: Project) -> ProbeCheckQuerySet:
        """Return the project's checks with their judges, the newest first."""
        related = "judge__rubric", "judge__project", "actor", "job"
        return self.filter(judge__project=project).select_related(*related).order_by("-id")
