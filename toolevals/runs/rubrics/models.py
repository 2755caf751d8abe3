"""Store trials of rubrics on a few cases before use: questions and answers, outside any grading."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from toolevals.runs.grading.models import CaseGrade, Grading
from toolevals.runs.judging.models import Judge, JudgeAnswer
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, User


class Tryout(models.Model):
    """One try of a rubric, kept or not yet, on cases of a grading, with the model behind a judge's connection."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tryouts")
    # The document of `toolevals.grading.judging.Rubric` that is tried.
    document = DocumentField()
    # Whose address, key, model and prices are used; its own rubric is not asked.
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="tryouts")
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="tryouts")
    seed = models.CharField(max_length=100)
    # Whether cases come first whose verdict by a rubric of that name has a thumb down.
    thumbs = models.BooleanField(default=False, db_default=False)
    # In the currency of the judge's prices: what it may cost.
    budget = models.FloatField(null=True)
    # How many examples were looked at until the cases were found; null until they are drawn.
    looked_at = models.PositiveIntegerField(null=True)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        document: Any = self.document
        return f"try of {document['title']}"


class TryoutCase(models.Model):
    """One case that a rubric is tried on, with the inputs of each of its questions."""

    id = PublicIdField()
    tryout = models.ForeignKey(Tryout, on_delete=models.CASCADE, related_name="cases")
    position = models.PositiveIntegerField()
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="+")
    questions = DocumentField()

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tryout", "position"], name="tryout_position"),
        ]


class TryoutAnswer(JudgeAnswer):
    """The answer to one question of a case, kept as it came."""

    id = PublicIdField()
    case = models.ForeignKey(TryoutCase, on_delete=models.CASCADE, related_name="answers")
    # Which of the case's questions, from 0.
    place = models.PositiveIntegerField()
    answer = DocumentField(default=dict)

    class Meta:
        ordering: ClassVar[list[str]] = ["place"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["case", "place"], name="tryout_asked_once"),
        ]
