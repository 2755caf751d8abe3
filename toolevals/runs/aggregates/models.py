"""Store cases counted by cell, how trials came out, steps, and what tools cost: counted when a grading finishes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.db import models
from django.db.models import Count, Q

from labeling.models import VersionEntry
from toolevals.runs.grading.models import CaseGrade, Grading
from toolevals.workspace.fields import DocumentField


class CountedCases(models.Model):
    """One matrix of a finished grading: see `aggregates.cube`. It follows from the cases.

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


# How the scored trials of an example can come out: what an address calls it -> which examples.
TRIALS_CAME_OUT: Final[Mapping[str, Q]] = {
    "always": Q(passed__gt=0, failed=0),
    "sometimes": Q(passed__gt=0, failed__gt=0),
    "never": Q(passed=0, failed__gt=0),
    "unscored": Q(passed=0, failed=0),
}


class TrialCountQuerySet(models.QuerySet["TrialCount"]):
    """Reads of the counted trials of a grading."""

    def coming_out(self, how: str) -> TrialCountQuerySet:
        """Return the examples whose scored trials passed "always", "sometimes" or "never", or all where it is empty."""
        return self.filter(TRIALS_CAME_OUT[how]) if how in TRIALS_CAME_OUT else self

    def counted(self, *columns: str) -> Counter[tuple[Any, ...]]:
        """Return how many examples have which values of the columns."""
        rows: Any = self.order_by().values_list(*columns).annotate(examples=Count("pk"))
        return Counter({row[:-1]: row[-1] for row in rows})


class StepCountQuerySet(models.QuerySet["StepCount"]):
    """Reads of the counted steps of a grading."""

    def of_grading(self, grading: Grading) -> StepCountQuerySet:
        """Return the grading's counts, the shortest chains first."""
        return self.filter(grading=grading).order_by("expected", "right", "made", "outcome")


class TrialCount(models.Model):
    """The trials of one example that passed, failed, ...: of runs with several trials, in the version's order."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="trial_counts")
    entry = models.ForeignKey(VersionEntry, on_delete=models.PROTECT, related_name="+")
    # The first call that is expected; empty where any will do, or no trial was scored.
    tool = models.CharField(max_length=200, blank=True)
    # Strata as they were when it was graded.
    bucket = models.CharField(max_length=40, blank=True)
    difficulty = models.CharField(max_length=40, blank=True)
    passed = models.PositiveSmallIntegerField()
    failed = models.PositiveSmallIntegerField()
    unscored = models.PositiveSmallIntegerField()
    errored = models.PositiveSmallIntegerField()

    objects = TrialCountQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "entry"], name="trials_of_an_example"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # The tallies of a grading are counted from this alone.
            models.Index(
                fields=["grading", "tool", "bucket", "difficulty", "passed", "failed", "unscored", "errored"],
                name="trial_tally",
            ),
        ]


class KeptSums(models.Model):
    """Sums over the examples of one kind of what is counted: see `aggregates.sums` and `aggregates.trials`."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="kept_sums")
    kind = models.CharField(max_length=20)
    # `[[key, the six sums of ExampleSums], ...]`. Of VERDICTS, of several trials an example: `{verdict: sums}`. Of
    # TRIALS: `[[kind, name, scored, passed, examples], ...]`, of the kinds of GROUPS; all under "".
    document = DocumentField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "kind"], name="kept_sums_of_a_kind"),
        ]


class StepCount(models.Model):
    """The number of cases that expect so many calls, get so many of them right, make so many themselves, and end so.

    Only of gradings in which some case has more than one call.
    """

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="step_counts")
    expected = models.PositiveIntegerField()
    right = models.PositiveIntegerField()
    made = models.PositiveIntegerField()
    outcome = models.CharField(max_length=8)
    count = models.PositiveIntegerField()

    objects = StepCountQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "expected", "right", "made", "outcome"], name="step_count"),
        ]


class PackedCases(models.Model):
    """The cases of a finished grading as numbers: see `aggregates.packed_cases`. It follows from the cases."""

    grading = models.OneToOneField(Grading, on_delete=models.CASCADE, primary_key=True, related_name="packed")
    # What the numbers stand for: `{"verdicts": [...], "cells": [[expected, actual], ...]}`.
    document = DocumentField()
    # Unsigned 32 bits each, little-endian, zlib.
    numbers = models.BinaryField()


class MeasuredCalls(models.Model):
    """The calls to one tool in one batch of a grading: see `aggregates.tool_spending.CallsOfTool.packed`.

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
    # `toolevals.runs.aggregates.tool_spending.ToolSpent.to_document`
    measured = DocumentField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "tool"], name="tool_spending"),
        ]
