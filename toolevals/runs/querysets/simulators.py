"""Read simulators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from labeling.models import Dataset
    from toolevals.runs.models import Simulator
    from toolevals.workspace.models import Project


class SimulatorQuerySet(models.QuerySet["Simulator"]):
    """Reads of simulators."""

    def in_project(self, project: Project) -> SimulatorQuerySet:
        """Return the project's simulators, the newest first, without their contents."""
        return self.filter(project=project).select_related("actor").defer("content").order_by("-id")

    def of_dataset(self, dataset: Dataset) -> Simulator | None:
        """Return the simulator that is chosen for the dataset, if one is."""
        return self.filter(choices__dataset=dataset).first()
