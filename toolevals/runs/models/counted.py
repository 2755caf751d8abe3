"""Store the cases of a grading, counted by cell and by everything that they can be narrowed by."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.runs.models.gradings import CaseGrade, Grading
from toolevals.workspace.fields import DocumentField


class CountedCases(models.Model):
    """One matrix of a finished grading: see `toolevals.runs.counts.counted_cases`. It follows from the cases.

    That of FIRST and TRIAL is always there. Of one trial there is no majority; and where every case holds one call,
    the other views are as FIRST is. Neither is kept then.
    """

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="counted")
    view = models.CharField(max_length=10)
    unit = models.CharField(max_length=10)
    # What the numbers stand for.
    document = DocumentField()
    numbers = models.BinaryField()
    # Empty where no case says what it cost.
    costs = models.BinaryField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "view", "unit"], name="counted_matrix"),
        ]


class PlacedCase(models.Model):
    """A case in a cell where its own row doesn't tell: the one that stands for its example, or one of several calls.

    Of SET and TRIAL only the cases with several calls: the others stand where their one call does.
    """

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="+", db_index=False)
    # As in CountedCases, and the place among the cells there.
    view = models.CharField(max_length=10)
    unit = models.CharField(max_length=10)
    cell = models.PositiveIntegerField()
    # It goes with the grading; no one looks for it by its case.
    case = models.ForeignKey(
        CaseGrade, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Its cases in order are read from this alone.
            models.Index(fields=["grading", "view", "unit", "cell", "case"], name="placed_case"),
        ]
