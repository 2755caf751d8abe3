"""The calls of tools in one hour, counted once: figures of many days add hours up instead of reading calls."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import Project


class ToolHour(models.Model):
    """The counts of the calls of a project's traces that came in one hour.

    Whoever changes such calls holds the row and takes its counts away: see `toolevals.traces.services.tool_hours`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    # When it begins, in UTC.
    hour = models.DateTimeField()
    # As `toolevals.traces.tool_counts.documents_of` writes them; null while they are to be counted anew.
    counts = DocumentField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "hour"], name="tool_hour_of_a_project"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["hour"], name="tool_hour_to_count", condition=models.Q(counts__isnull=True)),
        ]
