"""Reads of traces."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models

from toolevals.workspace.models import Project

if TYPE_CHECKING:
    from toolevals.traces.models import Trace  # noqa: F401


class TraceQuerySet(models.QuerySet["Trace"]):
    """Traces, narrowed down by name."""

    def in_project(self, project: Project) -> TraceQuerySet:
        return self.filter(project=project)

    def due(self, now: datetime) -> TraceQuerySet:
        """Return those that are to be summed up by now, the longest waiting first."""
        return self.filter(due_at__lte=now).order_by("due_at")
