"""Read gates: those that a project keeps, and those that runs were checked by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from toolevals.workspace.models import untrashed, within

if TYPE_CHECKING:
    from reports.models import HeldGate, NamedGate  # noqa: F401
    from toolevals.runs.models import Experiment, Run
    from toolevals.workspace.models import Project


class NamedGateQuerySet(models.QuerySet["NamedGate"]):
    """Reads of the gates that projects keep."""

    def in_project(self, project: Project) -> NamedGateQuerySet:
        """Return the project's gates by name."""
        return self.filter(project=project).select_related("actor").order_by("name")


class HeldGateQuerySet(models.QuerySet["HeldGate"]):
    """Reads of held gates. What belongs to a preview is in no list and decides nothing."""

    def shown_in(self, project: Project) -> HeldGateQuerySet:
        """Return the project's held gates, those of previews too, with everything that a page shows."""
        return self.filter(within(project, "run")).select_related(
            "run__experiment", "run__agent", "grading__dataset_version__dataset", "baseline__run", "actor", "job"
        )

    def in_project(self, project: Project) -> HeldGateQuerySet:
        """Return the project's held gates with everything that a list shows, the newest first, without their checks."""
        return self.shown_in(project).filter(preview=None).defer("gate").order_by("-id")

    def matching(self, *, experiment: str = "", branch: str = "", status: str = "") -> HeldGateQuerySet:
        """Return those of an experiment (by slug), a branch, a status; an empty one is no condition."""
        wanted = {"run__experiment__slug": experiment, "branch": branch, "status": status}
        return self.filter(**{name: value for name, value in wanted.items() if value})

    def decided(self) -> HeldGateQuerySet:
        """Leave out those that are still at work, and those of previews."""
        return self.exclude(status="").filter(preview=None)

    def newest_of(self, experiment: Experiment) -> HeldGate | None:
        """Return the newest decided one of an experiment."""
        return (
            self.filter(untrashed("run"), untrashed("run__project"), run__experiment=experiment)
            .decided()
            .order_by("-id")
            .first()
        )

    def before(self, run: Run) -> HeldGateQuerySet:
        """Return the decided ones of other runs on the same dataset and the same part of it, the newest first."""
        others = self.filter(run__dataset_version__dataset=run.dataset_version.dataset_id, run__preset=run.preset)
        known = others.exclude(run=run).decided().filter(within(run.project_id, "run"), run__grading__isnull=False)
        return known.select_related("run__grading").order_by("-id")
