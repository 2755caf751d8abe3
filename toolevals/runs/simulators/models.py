"""Store what stands behind the tools of a dataset's examples."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models import Dataset
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, User


class SimulatorQuerySet(models.QuerySet["Simulator"]):
    """Reads of simulators."""

    def in_project(self, project: Project) -> SimulatorQuerySet:
        """Return the project's simulators, the newest first, without their contents."""
        return self.filter(project=project).select_related("actor").defer("content").order_by("-id")

    def of_dataset(self, dataset: Dataset) -> Simulator | None:
        """Return the simulator that is chosen for the dataset, if one is."""
        return self.filter(choices__dataset=dataset).first()


class SimulatorKind(models.TextChoices):
    """The way that a simulator answers."""

    SCRIPTED = "scripted", "scripted results"
    CODE = "code", "Python code"
    HTTP = "http", "a service behind HTTP"
    MCP = "mcp", "an MCP server"


class Simulator(models.Model):
    """A simulator in one exact state: immutable, by content. Other content under its name is the next version."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="simulators")
    name = models.CharField(max_length=120)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=SimulatorKind.choices)
    # See `toolevals.runs.simulators.contents`.
    content = DocumentField()
    # The tools that it answers; null where only asking it tells.
    tools = DocumentField(null=True)
    # SHA-256 over kind and content.
    digest = models.CharField(max_length=64)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = SimulatorQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "name", "digest"], name="simulator_digest"),
            models.UniqueConstraint(fields=["project", "name", "number"], name="simulator_number"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.number}"


class DatasetSimulator(models.Model):
    """The simulator that a dataset's examples are run with from now on."""

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, primary_key=True, related_name="simulation")
    simulator = models.ForeignKey(Simulator, on_delete=models.PROTECT, related_name="choices")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    changed_at = MomentField(auto_now=True)
