"""Reads samples, schedules, and the traces behind examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import models

from toolevals.workspace.models import Project, Role, untrashed, within

if TYPE_CHECKING:
    from toolevals.traces.models import Promotion, PromotionSchedule, TraceExample  # noqa: F401


class PromotionQuerySet(models.QuerySet["Promotion"]):
    """Samples, narrowed down by name."""

    def in_project(self, project: Project) -> PromotionQuerySet:
        """Return the project's, without those to datasets that were deleted, with what a list shows loaded."""
        found = self.filter(within(project, "dataset"), project=project)
        return found.select_related("dataset", "actor", "job", "schedule", "project").defer("plan")


class ScheduleQuerySet(models.QuerySet["PromotionSchedule"]):
    """Schedules, narrowed down by name."""

    def in_project(self, project: Project) -> ScheduleQuerySet:
        """Return the project's, without those to datasets that were deleted."""
        return self.filter(within(project, "dataset"), project=project).select_related("dataset", "actor", "project")


class TraceExampleQuerySet(models.QuerySet["TraceExample"]):
    """Turns of traces that are examples."""

    def shown(self) -> TraceExampleQuerySet:
        """Leave out those of datasets that were deleted."""
        return self.filter(untrashed("example__dataset"))

    def open_traces(self, project: Project, examples: Iterable[Any], role: Role) -> dict[UUID, UUID]:
        """Return the traces that a project's examples were made of, by example, without those closed to a role."""
        from toolevals.traces.blindness import closed_to
        from toolevals.traces.models import Trace

        wanted = list(examples)
        if not wanted:
            return {}
        found = Trace.objects.filter(project=project, examples__example__in=wanted, examples__is_folded=False)
        return dict(found.exclude(closed_to(project, role)).values_list("examples__example", "pk"))
