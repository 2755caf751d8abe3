"""Read rubrics, judges and judgements."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import models
from django.db.models import Count, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from toolevals.runs.judging.blindness import verdict_hidden
from toolevals.workspace.models import untrashed

if TYPE_CHECKING:
    from toolevals.runs.models import Grading, Judge, JudgedCase, Judgement, Rubric  # noqa: F401
    from toolevals.workspace.models import Project


class RubricQuerySet(models.QuerySet["Rubric"]):
    """Reads of rubrics."""

    def in_project(self, project: Project) -> RubricQuerySet:
        """Return the project's rubrics, by name, the newest version first."""
        return self.filter(project=project).order_by("name", "-version")


class JudgeQuerySet(models.QuerySet["Judge"]):
    """Reads of judges."""

    def in_project(self, project: Project) -> JudgeQuerySet:
        """Return the project's judges with their rubrics, the newest first."""
        return self.filter(project=project).select_related("rubric").order_by("-id")

    def with_newest_count(self) -> Any:
        """Add `newest_run`, the number of the run of its newest finished grading, and what it came to there."""
        from toolevals.runs.models import JudgeCount

        counts = JudgeCount.objects.filter(
            untrashed("grading__run"), judge=OuterRef("pk"), grading__finished_at__isnull=False
        ).order_by("-pk")
        return self.annotate(
            newest_run=Subquery(counts.values("grading__run__number")[:1]),
            **{f"newest_{name}": Subquery(counts.values(name)[:1]) for name in ("passed", "failed", "errored", "cost")},
        )

    def with_thumbs(self) -> Any:
        """Add `thumbs_up` and `thumbs_down`: how many people say so now."""
        from toolevals.runs.models import Thumb

        def count(is_up: bool) -> Any:
            rows = Thumb.objects.counted().filter(
                ~verdict_hidden(), untrashed("case__grading__run"), judge=OuterRef("pk"), is_up=is_up
            )
            counted = rows.order_by().values("judge").annotate(count=Count("pk")).values("count")
            return Coalesce(Subquery(counted), 0)

        return self.annotate(thumbs_up=count(True), thumbs_down=count(False))

    def switched_on(self) -> JudgeQuerySet:
        """Return those that gradings ask, in one order always."""
        return self.filter(is_on=True).select_related("rubric", "project").order_by("rubric__name", "pk")


class JudgementQuerySet(models.QuerySet["Judgement"]):
    """Reads of judgements."""

    def usable_by(self, grading: Grading, rubric: UUID, model: str, digests: Collection[str]) -> JudgementQuerySet:
        """Return those that answer these questions: answers of any time, and errors of this very grading."""
        fresh = Q(error="") | Q(grading=grading)
        return self.filter(fresh, rubric=rubric, model=model, inputs__in=list(digests))

    def spent_on(self, grading: Grading, rubric: UUID, model: str) -> dict[str, Any]:
        """Return `asked` and `cost` (None without prices) of what a grading asked one judge."""
        answers = self.filter(grading=grading, rubric=rubric, model=model)
        return answers.aggregate(asked=Count("pk"), cost=Sum("cost"))


class JudgedCaseQuerySet(models.QuerySet["JudgedCase"]):
    """Reads of judges' verdicts."""

    def shown(self) -> JudgedCaseQuerySet:
        """Return the verdicts that are shown to anyone: not those that people rate without knowing them."""
        return self.filter(~verdict_hidden())

    def for_export(self, grading: Grading) -> Any:
        """Return a grading's verdicts with their cases and examples, in the order of their rows.

        Add `is_hidden`, whether a verdict is shown to no one.
        """
        return (
            self.filter(grading=grading)
            .annotate(is_hidden=verdict_hidden())
            .select_related("case__transcript__entry__revision__example")
            .defer("case__transcript__document", "case__transcript__entry__revision__input")
            .order_by("pk")
        )
