"""Store calibrations of judges: which of a judge's cases are rated, by whom, and each person's answer."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q

from toolevals.json_types import JsonObject
from toolevals.runs.grading.models import CaseGrade, Grading
from toolevals.runs.judging.blindness import ratings_shown
from toolevals.runs.judging.models import Judge
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, User, untrashed

# Prepared, and what the judge was given could be had again.
RATABLE = Q(questions__isnull=False) & ~Q(questions=[])


class JudgeCalibrationQuerySet(models.QuerySet["JudgeCalibration"]):
    """Reads of calibrations."""

    def in_project(self, project: Project) -> JudgeCalibrationQuerySet:
        """Return the project's calibrations with their judges and runs, the newest first."""
        related = "judge__rubric", "judge__project", "grading__run", "actor", "job"
        return self.filter(untrashed("grading__run"), judge__project=project).select_related(*related).order_by("-id")

    def open(self) -> JudgeCalibrationQuerySet:
        """Return those that people still rate."""
        return self.filter(closed_at=None)

    def with_progress(self) -> Any:
        """Add `size` (cases that can be rated), `held_out` of them, and `ratings` (how many there are)."""
        ratings = Rating.objects.filter(case__calibration=OuterRef("pk")).order_by().values("case__calibration")
        ratable = Q(cases__questions__isnull=False) & ~Q(cases__questions=[])
        return self.annotate(
            size=Count("cases", filter=ratable),
            held_out=Count("cases", filter=ratable & Q(cases__is_held_out=True)),
            ratings=models.functions.Coalesce(models.Subquery(ratings.annotate(count=Count("pk")).values("count")), 0),
        )


class CalibratedCaseQuerySet(models.QuerySet["CalibratedCase"]):
    """Reads of the cases of a calibration."""

    def ratable(self) -> CalibratedCaseQuerySet:
        """Return those that can be rated."""
        return self.filter(RATABLE)

    def drawn(self) -> CalibratedCaseQuerySet:
        """Return those of them that were drawn by chance: figures rest on no other."""
        return self.ratable().filter(by_thumb=False)

    def left_for(self, user: User) -> CalibratedCaseQuerySet:
        """Return those that this person may still rate, in their order: not by them yet, nor by as many as it takes."""
        own = Rating.objects.filter(case=OuterRef("pk"), rater=user)
        counted = self.ratable().filter(~Exists(own), calibration__closed_at=None).annotate(had=Count("ratings"))
        return counted.filter(had__lt=F("calibration__raters")).order_by("position")


class RatingQuerySet(models.QuerySet["Rating"]):
    """Reads of ratings. Whose are shown to whom says `toolevals.runs.judging.blindness`."""

    def visible_to(self, user: User) -> RatingQuerySet:
        """Return the ratings that this person may see."""
        return self.filter(ratings_shown(user))


class JudgeCalibration(models.Model):
    """A sample of the cases that a judge judged in one grading, to be rated by people who do not know what it said.

    It speaks of the judge's rubric version and model, even if others judge by them.
    """

    id = PublicIdField()
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="calibrations")
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="calibrations")
    # How many people rate each case, at most.
    raters = models.PositiveSmallIntegerField()
    seed = models.CharField(max_length=100)
    # What was to be drawn from, by verdict: {"passed": 80, "failed": 20}.
    drawn_from = DocumentField()
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)
    # Of the held-out cases once it is closed: the counts of `toolevals.grading.metrics.calibration.JudgeTable`.
    table = DocumentField(null=True)

    objects = JudgeCalibrationQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["judge", "-closed_at"], name="calibration_newest"),
        ]

    def __str__(self) -> str:
        return f"calibration of {self.judge}"

    @property
    def is_open(self) -> bool:
        """Return whether people may still rate it."""
        return self.closed_at is None


class CalibratedCase(models.Model):
    """One case of a calibration. What the judge was given is kept, so that it can be asked the very same again."""

    id = PublicIdField()
    calibration = models.ForeignKey(JudgeCalibration, on_delete=models.CASCADE, related_name="cases")
    position = models.PositiveIntegerField()
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="calibrated")
    is_held_out = models.BooleanField()
    # Whether a thumb proposed it, and no chance: then it is in no figure.
    by_thumb = models.BooleanField(default=False, db_default=False)
    # The least value of the judge's answers, which decides whether the case passes; null until it is prepared.
    value = models.FloatField(null=True)
    passed = models.BooleanField()
    # The inputs of each question, as the judge had them; null until prepared, empty where they could not be had again.
    questions = DocumentField(null=True)

    objects = CalibratedCaseQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["calibration", "position"], name="calibrated_position"),
            models.UniqueConstraint(fields=["calibration", "case"], name="calibrated_once"),
        ]

    @property
    def set_name(self) -> str:
        """Return which of `judge_calibrations.results.SETS` it is of."""
        return "held_out" if self.is_held_out else "thumbs" if self.by_thumb else "tuning"


class Rating(models.Model):
    """The rating of one case by one person, once and for all. `place` counts the ratings of a case, from 1."""

    id = PublicIdField()
    case = models.ForeignKey(CalibratedCase, on_delete=models.CASCADE, related_name="ratings")
    rater = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    place = models.PositiveSmallIntegerField()
    # On the rubric's scale; null where the person could not tell.
    value = models.FloatField(null=True)
    note = models.TextField(blank=True)
    created_at = MomentField(auto_now_add=True)

    objects = RatingQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["place"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["case", "rater"], name="rated_once_each"),
            models.UniqueConstraint(fields=["case", "place"], name="rating_place"),
            models.CheckConstraint(condition=Q(value__isnull=True) | Q(value__range=(0, 1)), name="rating_0_to_1"),
        ]

    @property
    def said(self) -> JsonObject:
        """Return what a retry has to repeat."""
        return {"value": self.value, "note": self.note}
