"""Store checks of judges with probes: each check with its probes, and what the judge answered."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.runs.judging.models import Judge, JudgeAnswer, JudgeCheckQuerySet
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, User


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
