"""Store where the rows of an import wait until all of them have been read."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.datasets.models import Dataset
from labeling.examples.models import Revision
from toolevals.grading.values.verdicts import LONGEST
from toolevals.registry.models import ToolList
from toolevals.workspace.fields import DocumentField, PublicIdField
from toolevals.workspace.models import Job


class ImportPart(models.Model):
    """One part of a file, read. Once the file is published or refused it belongs to no job, and is swept."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="+")
    # Null where the rows came from this process and are published in the same transaction, and once no one needs them.
    job = models.ForeignKey(Job, null=True, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    # How many lines of the file it holds, empty ones included.
    lines = models.PositiveIntegerField()
    # `[{"line", "pointer", "message"}]`: what refuses the file, and what is only worth telling. Lines count from 1 in
    # the part. The first of them; `errors` and `warnings` are how many there were.
    problems = DocumentField(default=list)
    remarks = DocumentField(default=list)
    errors = models.PositiveIntegerField(default=0)
    warnings = models.PositiveIntegerField(default=0)
    # Of a large import: the rows up to this line are placed where no one sees them yet.
    placed = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["job", "number"], name="import_part_number"),
        ]


class StagedExample(models.Model):
    """One good row: the values that its example, revision and gold will have."""

    # Becomes the revision's id.
    id = PublicIdField()
    part = models.ForeignKey(ImportPart, on_delete=models.CASCADE, related_name="rows")
    line = models.PositiveIntegerField()
    example_id = models.UUIDField()
    gold_id = models.UUIDField()
    external_id = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    input = DocumentField()
    tools = models.ForeignKey(ToolList, on_delete=models.RESTRICT, related_name="+")
    # Null where the example is still to be labelled.
    expectation = DocumentField(null=True)
    rationale = models.TextField(blank=True)
    bucket = models.CharField(max_length=40, blank=True)
    no_call_kind = models.CharField(max_length=40, blank=True)
    difficulty = models.CharField(max_length=40, blank=True)
    edge_case = models.CharField(max_length=60, blank=True)
    error_class = models.CharField(max_length=40, blank=True)
    effect = models.CharField(max_length=10, blank=True)
    category = models.CharField(max_length=60, blank=True)
    decided_by = models.CharField(max_length=LONGEST, blank=True, default="", db_default="")
    # The row of another format, for its exports: see Origin.
    origin = DocumentField(null=True)
    # `[{"author", "expectation", "text"}]`: what people said of it elsewhere; null where no one did.
    judgements = DocumentField(null=True)
    # What the publication changed about an example that was there before, such as "revised, strata changed".
    fate = models.CharField(max_length=60, blank=True, db_default="")

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["part", "external_id"], name="staged_external_id"),
        ]


class GoldFate(models.TextChoices):
    """The effect of an import on the gold of an example that was there before; empty where it says nothing else."""

    REPLACED = "replaced"
    DISPUTED = "disputed"
    # It says something else, which means the same or was asked before.
    KEPT = "kept"


class StagedChange(models.Model):
    """The change that a staged row will make to an example that was there before, and what this was decided by.

    Written before the publication, which takes it as it is where the example still is as it was, and else decides
    again. Rows and revisions are named by their ids alone: what stands here is looked up when it is used.
    """

    staged = models.OneToOneField(StagedExample, primary_key=True, on_delete=models.CASCADE, related_name="change")
    part = models.ForeignKey(ImportPart, on_delete=models.CASCADE, related_name="+")
    example_id = models.UUIDField()
    # The revision that is shown, and the one that is shown from the publication on: the same, an earlier one of the
    # same content, or a further one, which takes the staged row's id.
    current_id = models.UUIDField()
    onto_id = models.UUIDField()
    # The gold that was in force for the latter, and how many disputes it had.
    gold_id = models.UUIDField(null=True)
    disputes = models.PositiveIntegerField(default=0)
    # The example's strata and what decides it, as they were, a line each.
    words = models.TextField(blank=True)
    gold_fate = models.CharField(max_length=8, choices=GoldFate.choices, blank=True)
    sets_strata = models.BooleanField()
    sets_decided_by = models.BooleanField()


class Origin(models.Model):
    """The row of another format that a revision was made of, so that an export can give it back as it was."""

    revision = models.OneToOneField(Revision, primary_key=True, on_delete=models.CASCADE, related_name="origin")
    document = DocumentField()
