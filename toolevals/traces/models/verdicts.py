"""Store what online rules say of spans in production."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.traces.models.traces import Trace
from toolevals.workspace.models import Project


class VerdictStatus(models.TextChoices):
    """As of the graders of runs."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"
    ERRORED = "errored"


class SpanVerdict(models.Model):
    """What one rule says of one span. It follows from the trace and is made anew when more comes."""

    # Both have indexes below that begin with them.
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="verdicts", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    # Empty for a call that only the conversation tells of.
    span_id = models.CharField(max_length=16, blank=True)
    rule = models.CharField(max_length=40)
    version = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=8, choices=VerdictStatus.choices)
    value = models.FloatField(null=True)
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["trace", "number"], name="span_verdict_of_a_trace"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "rule", "status", "trace"], name="span_verdict_of_a_rule"),
        ]
