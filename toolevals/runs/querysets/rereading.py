"""Read re-readings, their cases and what people said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce

from toolevals.workspace.models import within

if TYPE_CHECKING:
    from toolevals.runs.models import Grading, Reading, RereadCase, Rereading  # noqa: F401
    from toolevals.workspace.models import Project, User


class RereadingQuerySet(models.QuerySet["Rereading"]):
    """Reads of re-readings."""

    def in_project(self, project: Project) -> RereadingQuerySet:
        """Return the project's re-readings with their runs, the newest first."""
        related = "grading__run__project", "grading__run__dataset_version", "grading__dataset_version__dataset", "actor"
        return self.filter(within(project, "grading__run")).select_related(*related).order_by("-id")

    def with_progress(self) -> Any:
        """Add `size` (its cases) and `read` (how many readings there are)."""
        from toolevals.runs.models import Reading

        readings = Reading.objects.filter(case__rereading=OuterRef("pk")).order_by().values("case__rereading")
        counted = readings.annotate(count=Count("pk")).values("count")
        return self.annotate(size=Count("cases"), read=Coalesce(models.Subquery(counted), 0))

    def newest_of(self, grading: Grading) -> Rereading | None:
        """Return the re-reading of a grading that was closed last and not cancelled."""
        closed = self.filter(grading=grading, closed_at__isnull=False, is_cancelled=False)
        return closed.order_by("-closed_at", "-id").first()


class RereadCaseQuerySet(models.QuerySet["RereadCase"]):
    """Reads of the cases of a re-reading."""

    def resting(self) -> RereadCaseQuerySet:
        """Return those that no one is shown now, because their example is being labelled."""
        from toolevals.runs.rereading.blindness import is_at_rest

        return self.filter(is_at_rest())

    def left_for(self, user: User) -> RereadCaseQuerySet:
        """Return those that this person may still read, in their order: not by them yet, nor by as many as it takes."""
        from toolevals.runs.models import Reading
        from toolevals.runs.rereading.blindness import made_gold

        own = Reading.objects.filter(case=OuterRef("pk"), reader=user)
        free = self.filter(~Exists(own), ~Q(made_gold(user)), rereading__closed_at=None).exclude(
            pk__in=self.resting().order_by().values("pk")
        )
        return free.annotate(had=Count("readings")).filter(had__lt=F("rereading__readers")).order_by("position")

    def with_content(self) -> RereadCaseQuerySet:
        """Return cases with what their page shows loaded."""
        related = (
            "rereading__grading__run__project",
            "case__grading__run__agent__tools__tools",
            "case__transcript__entry__revision__tools",
            "case__transcript__entry__version__dataset",
        )
        return self.select_related(*related)


class ReadingQuerySet(models.QuerySet["Reading"]):
    """Reads of what people said. Whose is shown to whom says `toolevals.runs.rereading.blindness`."""

    def visible_to(self, user: User) -> ReadingQuerySet:
        """Return the readings that this person may see."""
        from toolevals.runs.rereading.blindness import readings_shown

        return self.filter(readings_shown(user))
