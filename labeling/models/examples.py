"""Store examples, and the revisions of each."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models.datasets import Dataset
from labeling.querysets.examples import ExampleQuerySet, RevisionQuerySet
from toolevals.grading.reading.examples import STRATA
from toolevals.grading.values.verdicts import LONGEST
from toolevals.registry.models import ToolList
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField


class Example(models.Model):
    """One decision point or scenario, known in its dataset by an external id. Strata are mutable metadata."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="examples", db_index=False)
    external_id = models.CharField(max_length=200)
    current = models.OneToOneField("labeling.Revision", null=True, on_delete=models.RESTRICT, related_name="+")
    # Strata; empty where not said.
    bucket = models.CharField(max_length=40, blank=True)
    no_call_kind = models.CharField(max_length=40, blank=True)
    difficulty = models.CharField(max_length=40, blank=True)
    edge_case = models.CharField(max_length=60, blank=True)
    error_class = models.CharField(max_length=40, blank=True)
    effect = models.CharField(max_length=10, blank=True)
    # What the source calls its kind of example.
    category = models.CharField(max_length=60, blank=True)
    # What decides it: see `toolevals.grading.values.verdicts`; empty where its dataset's default does.
    decided_by = models.CharField(max_length=LONGEST, blank=True, default="", db_default="")
    created_at = MomentField(auto_now_add=True)

    objects = ExampleQuerySet.as_manager()

    STRATA: ClassVar[tuple[str, ...]] = STRATA

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["dataset", "external_id"], name="example_external_id"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["dataset", "id"], name="example_dataset")]

    @property
    def strata(self) -> dict[str, str]:
        """The strata that are said, by name."""
        return {name: value for name in self.STRATA if (value := getattr(self, name))}


AGAIN_FIRST = 1


class Resolution(models.TextChoices):
    """The stage of a revision's labelling."""

    OPEN = "open", "to label"
    DISAGREED = "disagreed", "to adjudicate"
    # Two people passed it on: an adjudicator decides.
    PASSED_ON = "passed_on", "passed on, to adjudicate"
    RESOLVED = "resolved", "gold"
    # There is no gold, on purpose: ambiguous, or the right tool is missing.
    SET_ASIDE = "set_aside", "set aside"


class Revision(models.Model):
    """The content of an example: its input and the tools offered, by content. Labels stay with their revision."""

    id = PublicIdField()
    example = models.ForeignKey(Example, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField()
    # SHA-256 over input and offered tools.
    digest = models.CharField(max_length=64)
    # `{"messages": [...], "context": {...}}`
    input = DocumentField()
    tools = models.ForeignKey(ToolList, on_delete=models.RESTRICT, related_name="+")
    resolution = models.CharField(max_length=12, choices=Resolution.choices, default=Resolution.OPEN)
    # Why it was set aside: a LabelAnswer other than an expectation.
    set_aside_as = models.CharField(max_length=12, blank=True, db_default="")
    # Counts from 1; reopening an example begins another round of labels.
    round = models.PositiveSmallIntegerField(default=1, db_default=1)
    # How far agents differ about it, 0..1; written by those who run them.
    disagreement = models.FloatField(default=0, db_default=0)
    # From when on its labels may be compared, if all are in: the newest can no longer be changed then.
    settles_at = models.DateTimeField(null=True)
    # The newest decision, which is in force.
    gold = models.OneToOneField("labeling.Gold", null=True, on_delete=models.RESTRICT, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = RevisionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["example", "number"], name="revision_number"),
            models.UniqueConstraint(fields=["example", "digest"], name="revision_digest"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["resolution", "id"], name="revision_resolution"),
            models.Index(fields=["settles_at"], name="revision_settles", condition=models.Q(settles_at__isnull=False)),
        ]

    @property
    def priority(self) -> int:
        """The priority of its slots in the queue: what was reopened comes first. Labels change nothing about it."""
        return AGAIN_FIRST if self.round > 1 else 0
