"""A dataset and its frozen versions."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.querysets.datasets import DatasetQuerySet, DatasetVersionQuerySet, EntryQuerySet
from toolevals.registry.models import RegistryVersion
from toolevals.workspace.fields import PublicIdField
from toolevals.workspace.models import Project, User


class Dataset(models.Model):
    """A named collection of examples that grows and is corrected; runs are made against its versions."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="datasets")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    # What reviewers read beside the example.
    guideline = models.TextField(blank=True)
    # Offered where an example brings no tools of its own.
    default_tools = models.ForeignKey(
        RegistryVersion, null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "slug"], name="dataset_slug"),
        ]

    def __str__(self) -> str:
        return self.slug


class DatasetVersion(models.Model):
    """Frozen example revisions with the gold that was in force: what runs are made against."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    note = models.CharField(max_length=300, blank=True)
    # How many examples it holds.
    size = models.PositiveIntegerField()
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DatasetVersionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["dataset", "number"], name="dataset_version_number"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset.slug}@{self.number}"


class VersionEntry(models.Model):
    """One example of a dataset version, at its place."""

    id = PublicIdField()
    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="entries")
    position = models.PositiveIntegerField()
    revision = models.ForeignKey("labeling.Revision", on_delete=models.RESTRICT, related_name="+")
    gold = models.ForeignKey("labeling.Gold", on_delete=models.RESTRICT, related_name="+")

    objects = EntryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["version", "position"], name="version_position"),
            models.UniqueConstraint(fields=["version", "revision"], name="version_revision"),
        ]
