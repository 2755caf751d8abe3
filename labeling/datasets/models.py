"""Store datasets and the wordings of their guidelines, and read them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.apps import apps
from django.db import models
from django.db.models import Case, F, OuterRef, Q, When

from toolevals.grading.values.verdicts import EXPECTED, LONGEST
from toolevals.registry.models import RegistryVersion
from toolevals.workspace.expressions import Length
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, Trashable, Untrashed, User


class DatasetQuerySet(models.QuerySet["Dataset"]):
    """Reads of datasets."""

    def in_project(self, project: Project) -> DatasetQuerySet:
        """Return the project's datasets, by name."""
        return self.filter(project=project).select_related("default_tools__registry").order_by("name", "id")

    def with_counts(self, most: int) -> DatasetQuerySet:
        """Add `size`, how many examples there are, and `with_gold`, how many of them have gold.

        No more than `most` examples of a dataset are looked at: where there are more, both are None.
        """
        rows: Any = apps.get_model("labeling", "Example").objects
        examples = rows.filter(dataset=OuterRef("pk")).order_by().values("pk")
        few = Q(looked_at__lte=most)
        return self.annotate(
            looked_at=Length(examples[: most + 1]),
            size=Case(When(few, then=F("looked_at")), default=None),
            with_gold=Case(When(few, then=Length(examples.filter(current__gold__isnull=False))), default=None),
        )


class QueueOrder(models.TextChoices):
    """In which order a dataset's examples are labelled; those that were reopened always come first."""

    OLDEST = "oldest", "oldest first"
    DEFICITS = "deficits", "largest quota gap first, then oldest first"
    RANDOM = "random", "random (with a seed)"
    DISAGREEMENT = "disagreement", "most agent disagreement first, then oldest first"


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
