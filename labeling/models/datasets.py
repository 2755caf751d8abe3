"""Store a dataset and its frozen versions."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.querysets.datasets import DatasetQuerySet, DatasetVersionQuerySet, EntryQuerySet
from toolevals.grading.values.verdicts import EXPECTED, LONGEST
from toolevals.registry.models import RegistryVersion
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, Trashable, Untrashed, User


class QueueOrder(models.TextChoices):
    """In which order a dataset's examples are labelled; those that were reopened always come first."""

    OLDEST = "oldest", "oldest first"
    DEFICITS = "deficits", "what the strata lack, then oldest first"
    RANDOM = "random", "random, by a seed"
    DISAGREEMENT = "disagreement", "what agents disagree about, then oldest first"


class Dataset(Trashable):
    """A named collection of examples that grows and is corrected; runs are made against its versions."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="datasets")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    # What reviewers read beside the example: the text of the newest GuidelineVersion.
    guideline = models.TextField(blank=True)
    order = models.CharField(max_length=12, choices=QueueOrder.choices, default=QueueOrder.OLDEST)
    order_seed = models.PositiveIntegerField(default=0)
    # How many examples of what are wanted: see `labeling.coverage.quotas`.
    quotas = DocumentField(default=dict, blank=True)
    # Strata that reviewers see of what they may be given to label, besides the safe ones: `queue.shown_strata`.
    shown_strata = DocumentField(default=list, blank=True)
    # What decides its examples, where they do not say so themselves: see `toolevals.grading.values.verdicts`.
    decided_by = models.CharField(max_length=LONGEST, default=EXPECTED, db_default=EXPECTED)
    # Offered where an example brings no tools of its own.
    default_tools = models.ForeignKey(
        RegistryVersion, null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    created_at = MomentField(auto_now_add=True)

    objects = Untrashed.from_queryset(DatasetQuerySet)()
    with_trash = DatasetQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["project", "slug"],
                condition=models.Q(deleted_at=None),
                name="dataset_slug",
                violation_error_message="Dataset with this Project and Slug already exists.",
            ),
        ]

    def __str__(self) -> str:
        return self.slug


class GuidelineVersion(models.Model):
    """One wording of a dataset's guideline, and who wrote it. Labels name the one that was in force."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="guidelines")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    # What is new in it, for those who read the one before.
    note = models.CharField(max_length=300, blank=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["dataset", "number"], name="guideline_number"),
        ]


class DatasetVersion(models.Model):
    """Frozen example revisions with the gold that was in force: what runs are made against."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    note = models.CharField(max_length=300, blank=True)
    # Names that people gave it, such as "release-3".
    tags = DocumentField(default=list, blank=True)
    # How many examples it holds.
    size = models.PositiveIntegerField()
    # How many of them have gold of which source, counted when it is frozen; null before that was so.
    gold_sources = DocumentField(null=True, default=None)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

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
    # What decides it: the example's own, or what was the dataset's.
    decided_by = models.CharField(max_length=LONGEST, default=EXPECTED, db_default=EXPECTED)

    objects = EntryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["version", "position"], name="version_position"),
            models.UniqueConstraint(fields=["version", "revision"], name="version_revision"),
        ]
