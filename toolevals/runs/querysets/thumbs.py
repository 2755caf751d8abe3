"""Read thumbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

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

    def of_person(self, case: CaseGrade, user: User) -> ThumbQuerySet:
        """Return what a person says now of the judges' verdicts on a case."""
        return self.counted().filter(case=case, person=user)
