"""Stores the counts of one hour's traces: figures of many days add hours up, and read no traces or calls."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import Project


class TraceHour(models.Model):
    """The counts of a project's traces that came in one hour: of their calls, their costs and their rules' verdicts.

    All three are null while they are to be counted again. A writer of such traces holds the row and takes its counts
    away: see `toolevals.traces.production.trace_hours`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    # When it begins, in UTC.
    hour = models.DateTimeField()
    # As `toolevals.traces.production.tool_counts.documents_of` writes them.
    calls = DocumentField(null=True)
    # As `toolevals.traces.production.trace_costs.documents_of` writes them.
    costs = DocumentField(null=True)
    # As `toolevals.traces.production.rule_trends.documents_of` writes them.
    verdicts = DocumentField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "hour"], name="trace_hour_of_a_project"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["hour"], name="trace_hour_to_count", condition=models.Q(calls__isnull=True)),
        ]
