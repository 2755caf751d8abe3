"""Read thumbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Exists, OuterRef, Subquery

from toolevals.runs.judging.blindness import verdict_hidden
from toolevals.workspace.models import untrashed

if TYPE_CHECKING:
    from toolevals.runs.models import CaseGrade, Judge, Thumb  # noqa: F401
    from toolevals.workspace.models import User


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
        from toolevals.runs.models import JudgedCase

        verdicts = JudgedCase.objects.filter(case=OuterRef("case"), rubric=OuterRef("rubric"))
        return self.annotate(verdict=Subquery(verdicts.values("status")[:1]))

    def proposed(self, judge: Judge) -> ThumbQuerySet:
        """Return those down on verdicts of a judge on examples that no calibration of its rubric and model has had."""
        from toolevals.runs.models import CalibratedCase

        had = CalibratedCase.objects.filter(
            calibration__judge__rubric=judge.rubric_id,
            calibration__judge__model=judge.model,
            case__transcript__entry__revision=OuterRef("case__transcript__entry__revision"),
        )
        return self.on(judge).counted().filter(~Exists(had), is_up=False)

    def of_person(self, case: CaseGrade, user: User) -> ThumbQuerySet:
        """Return what a person says now of the judges' verdicts on a case."""
        return self.counted().filter(case=case, person=user)
