"""Read calibrations of judges, their cases and people's ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q

from toolevals.workspace.models import untrashed

if TYPE_CHECKING:
    from toolevals.runs.models import CalibratedCase, JudgeCalibration, Rating  # noqa: F401
    from toolevals.workspace.models import Project, User

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
        from toolevals.runs.models import Rating

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
        from toolevals.runs.models import Rating

        own = Rating.objects.filter(case=OuterRef("pk"), rater=user)
        counted = self.ratable().filter(~Exists(own), calibration__closed_at=None).annotate(had=Count("ratings"))
        return counted.filter(had__lt=F("calibration__raters")).order_by("position")


class RatingQuerySet(models.QuerySet["Rating"]):
    """Reads of ratings. Whose are shown to whom says `toolevals.runs.judging.blindness`."""

    def visible_to(self, user: User) -> RatingQuerySet:
        """Return the ratings that this person may see."""
        from toolevals.runs.judging.blindness import ratings_shown

        return self.filter(ratings_shown(user))
