"""Store what is derived from gold for counting: it can be made again at any time, and nothing else depends on it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.adjudicate.models import Gold
from labeling.datasets.models import Dataset
from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import Job


class ToolPart(models.TextChoices):
    """The part of a tool in an example."""

    # The gold calls it.
    EXPECTED = "expected"
    # It gave the result that the agent reacts to.
    ANSWERED = "answered"
    # No call is right, and the gold says that the request comes near a call of it; or only an estimate says so.
    NEAR = "near"
    ESTIMATED = "estimated"


class GoldTool(models.Model):
    """One tool that an example with gold is about, or the class of one that expects none. Neither ever changes."""

    gold = models.ForeignKey(Gold, on_delete=models.CASCADE, related_name="tools", db_index=False)
    part = models.CharField(max_length=10, choices=ToolPart.choices)
    # A tool's name, `(none)` or `(any)`.
    tool = models.CharField(max_length=200)
    # The edge cases that the expected arguments exercise: names in order, between commas, as ",currency,time_zone,".
    kinds = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["gold", "part", "tool"], name="gold_tool"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["tool", "part", "gold"], name="tool_gold")]


class CoverageCount(models.Model):
    """A dataset's counts as they were at one moment: kept where counting takes longer than a page may."""

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, primary_key=True, related_name="+")
    # See `labeling.coverage.counting`.
    document = DocumentField(null=True)
    counted_at = models.DateTimeField(null=True)
    # Who counts again.
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
