"""Store how the trials of an example came out, and how many steps cases took: counted when a grading finishes."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models import VersionEntry
from toolevals.runs.models.gradings import Grading
from toolevals.runs.querysets.trials import StepCountQuerySet, TrialCountQuerySet
from toolevals.workspace.fields import DocumentField


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


class TrialTallies(models.Model):
    """The number of examples by passed and scored trials, in all and in groups. It follows from TrialCount."""

    grading = models.OneToOneField(Grading, on_delete=models.CASCADE, primary_key=True, related_name="trial_tallies")
    # `[[kind, name, scored, passed, examples], ...]`, of the kinds of GROUPS in `services.trial_tallies`; all under "".
    document = DocumentField()


class KeptSums(models.Model):
    """Sums over the examples of what is counted besides verdicts and cells: see `services.kept_sums`."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="kept_sums")
    kind = models.CharField(max_length=20)
    # `[[key, the six sums of ExampleSums], ...]`
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
