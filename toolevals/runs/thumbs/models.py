"""Store what people think of single judgements."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery

from toolevals.runs.grading.models import CaseGrade
from toolevals.runs.judge_calibrations.models import CalibratedCase
from toolevals.runs.judging.blindness import verdict_hidden
from toolevals.runs.judging.models import Judge, JudgedCase
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.models import User, untrashed


class ThumbQuerySet(models.QuerySet["Thumb"]):
    """Reads of thumbs."""

    def counted(self) -> ThumbQuerySet:
        """Return what people say now."""
        return self.filter(is_current=True, is_up__isnull=False)

    def on(self, judge: Judge) -> ThumbQuerySet:
        """Return all that were given to a judge, the newest first, with their cases.

        Not those on examples that people rate without knowing what the judge says: they would tell.
        """
        related = "person", "case__grading__run", "case__transcript__entry__revision__example"
        shown = self.filter(~verdict_hidden(), untrashed("case__grading__run"), judge=judge).select_related(*related)
        return shown.defer("case__detail", "case__transcript__document").order_by("-id")

    def with_verdicts(self) -> Any:
        """Add `verdict`: what the judge said of the case."""
        verdicts = JudgedCase.objects.filter(case=OuterRef("case"), rubric=OuterRef("rubric"))
        return self.annotate(verdict=Subquery(verdicts.values("status")[:1]))

    def proposed(self, judge: Judge) -> ThumbQuerySet:
        """Return those down on verdicts of a judge on examples that no calibration of its rubric and model has had."""
        had = CalibratedCase.objects.filter(
            calibration__judge__rubric=judge.rubric_id,
            calibration__judge__model=judge.model,
            case__transcript__entry__revision=OuterRef("case__transcript__entry__revision"),
        )
        return self.on(judge).counted().filter(~Exists(had), is_up=False)

    def of_person(self, case: CaseGrade, user: User) -> ThumbQuerySet:
        """Return what a person says now of the judges' verdicts on a case."""
        return self.counted().filter(case=case, person=user)


class Thumb(models.Model):
    """A thumb up or down on a judge's verdict on one case. Another takes its place; none is ever taken away."""

    id = PublicIdField()
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="thumbs")
    rubric = models.CharField(max_length=50)
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="thumbs")
    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # Null where the person took it back.
    is_up = models.BooleanField(null=True)
    note = models.TextField(blank=True)
    # Whether it is what the person says now.
    is_current = models.BooleanField(default=True)
    created_at = MomentField(auto_now_add=True)

    objects = ThumbQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["case", "rubric", "person"], condition=Q(is_current=True), name="one_thumb_each"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["judge", "is_current"], name="thumb_judge")]

    @property
    def words(self) -> str:
        """Return what it says."""
        return {True: "up", False: "down", None: "removed"}[self.is_up]
