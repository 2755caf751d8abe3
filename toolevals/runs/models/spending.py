"""Store what the calls to each tool took: by batch while a grading is under way, by tool once it is finished."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.runs.models.gradings import Grading
from toolevals.workspace.fields import DocumentField


class MeasuredCalls(models.Model):
    """The calls to one tool in one batch of a grading: see `toolevals.runs.counts.tool_spending.CallsOfTool.packed`.

    Dropped when the grading is finished.
    """

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="+", db_index=False)
    tool = models.CharField(max_length=200)
    # The batch's first position.
    start = models.PositiveIntegerField()
    calls = models.PositiveIntegerField()
    steps = models.PositiveIntegerField()
    cases = models.BinaryField()
    numbers = models.BinaryField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "tool", "start"], name="measured_calls_of_a_batch"),
        ]


class ToolSpending(models.Model):
    """The cost of the calls to one tool in a finished grading."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="tool_spending", db_index=False)
    # The class of the call in the matrix.
    tool = models.CharField(max_length=200)
    calls = models.PositiveIntegerField()
    # The turns of the model in which it was called.
    steps = models.PositiveIntegerField()
    # `toolevals.runs.counts.tool_spending.ToolSpent.to_document`
    measured = DocumentField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "tool"], name="tool_spending"),
        ]
