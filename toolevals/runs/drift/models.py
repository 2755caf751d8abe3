"""Store checks of judges for drift: each check, and the judge's new answers to the same questions."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.runs.judge_calibrations.models import CalibratedCase, JudgeCalibration
from toolevals.runs.judging.models import Judge, JudgeAnswer, JudgeCheckQuerySet
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, User, untrashed


class DriftCheckQuerySet(JudgeCheckQuerySet["DriftCheck"]):
    """Reads of checks for drift."""

    def in_project(self, project: Project) -> DriftCheckQuerySet:
        """Return the project's checks with their judges and calibrations, the newest first."""
        related = "judge__rubric", "judge__project", "calibration__grading__run", "actor", "job"
        return (
            self.filter(untrashed("calibration__grading__run"), judge__project=project)
            .select_related(*related)
            .order_by("-id")
        )


class DriftCheck(models.Model):
    """One time that a judge was asked the cases of a closed calibration again, past every kept answer."""

    id = PublicIdField()
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="drift_checks")
    calibration = models.ForeignKey(JudgeCalibration, on_delete=models.CASCADE, related_name="drift_checks")
    # In the currency of the judge's prices: what it may cost.
    budget = models.FloatField(null=True)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    # Once it is finished: the counts of `toolevals.grading.judging.drift.DriftTable` under `changes`, and under `then`
    # and `now` those of `JudgeTable` on the held-out cases that are compared and that people have a verdict on.
    counts = DocumentField(null=True)

    objects = DriftCheckQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["judge", "-finished_at"], name="drift_check_newest"),
        ]

    def __str__(self) -> str:
        return f"drift check of {self.judge}"


class DriftAnswer(JudgeAnswer):
    """The answer of a judge to one question of a case when it was asked again, kept as it came.

    One that errored is not asked again by the same check.
    """

    id = PublicIdField()
    drift = models.ForeignKey(DriftCheck, on_delete=models.CASCADE, related_name="answers")
    case = models.ForeignKey(CalibratedCase, on_delete=models.CASCADE, related_name="drift_answers")
    # Which of the case's questions, from 0.
    place = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar[list[str]] = ["case__position", "place"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["drift", "case", "place"], name="drift_asked_once"),
        ]
