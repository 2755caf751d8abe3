"""What is derived from gold for counting: it can be made anew at any time, and nothing else depends on it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models.datasets import Dataset
from labeling.models.gold import Gold
from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import Job


class ExpectedTool(models.Model):
    """One tool that a gold expects, or the class of one that expects none. Gold never changes, nor does this."""

    gold = models.ForeignKey(Gold, on_delete=models.CASCADE, related_name="expected", db_index=False)
    # A tool's name, `(none)` or `(any)`.
    tool = models.CharField(max_length=200)
    # The edge cases that the expected arguments exercise: names in order, between commas, as ",currency,time_zone,".
    kinds = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["gold", "tool"], name="expected_tool"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["tool", "gold"], name="expected_tool_gold")]


class CoverageCount(models.Model):
    """A dataset's counts as they were at one moment: kept where counting takes longer than a page may."""

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, primary_key=True, related_name="+")
    # See `labeling.coverage.counting`.
    document = DocumentField(null=True)
    counted_at = models.DateTimeField(null=True)
    # Who counts anew.
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
