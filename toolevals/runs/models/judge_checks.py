"""Store checks of judges, for drift and with probes: each check, and what the judge answered."""

from __future__ import annotations

from typing import Any, ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Count, Q, Sum

from toolevals.runs.judge_calibrations.models import CalibratedCase, JudgeCalibration
from toolevals.runs.judging.models import Judge, JudgeAnswer
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, User, untrashed

_Check = TypeVar("_Check", bound=models.Model)


class JudgeCheckQuerySet(models.QuerySet[_Check]):
    """Reads of checks of either kind."""

    def of_judge(self, judge: Judge) -> Self:
        """Return the checks of a judge's rubric version and model, whichever judge asked by them."""
        return self.filter(judge__rubric=judge.rubric_id, judge__model=judge.model)

    def with_spending(self) -> Any:
        """Add `asked`, how many questions were asked, and `cost` of it (None without prices)."""
        return self.annotate(asked=Count("answers"), cost=Sum("answers__cost"))

    def under_way(self) -> Self:
        """Return those whose job may still go on by itself."""
        return self.filter(Q(job__state="running") | Q(job__state="paused"), finished_at=None)


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


class ProbeCheckQuerySet(JudgeCheckQuerySet["ProbeCheck"]):
    """Reads of checks with probes."""

    def in_project(self, project: Project) -> ProbeCheckQuerySet:
        """Return the project's checks with their judges, the newest first."""
        related = "judge__rubric", "judge__project", "actor", "job"
        return self.filter(judge__project=project).select_related(*related).order_by("-id")


class ProbeCheck(models.Model):
    """One time that a judge was asked about transcripts without and with texts that speak to it."""

    id = PublicIdField()
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="probe_checks")
    # The document of `toolevals.grading.judging.probing.ProbeSet`, as it was when the check began.
    probes = DocumentField()
    # In the currency of the judge's prices: what it may cost.
    budget = models.FloatField(null=True)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    # Once it is finished: how many probes moved the judge, of how many that were compared.
    moved = models.PositiveIntegerField(null=True)
    compared = models.PositiveIntegerField(null=True)

    objects = ProbeCheckQuerySet.as_manager()

    def __str__(self) -> str:
        return f"probes of {self.judge}"


class ProbeAnswer(JudgeAnswer):
    """The answer of a judge to one question of a check, kept as it came.

    One that errored is not asked again by the same check.
    """

    id = PublicIdField()
    probing = models.ForeignKey(ProbeCheck, on_delete=models.CASCADE, related_name="answers")
    # Of `toolevals.grading.judging.probing.ProbeSet.questions`.
    key = models.CharField(max_length=60)
    answer = DocumentField(default=dict)

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["probing", "key"], name="probe_asked_once"),
        ]


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
