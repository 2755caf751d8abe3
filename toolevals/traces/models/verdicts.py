"""Store what online rules say of spans in production."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.traces.models.judges import TraceJudge
from toolevals.traces.models.traces import Trace
from toolevals.workspace.models import Project


class VerdictStatus(models.TextChoices):
    """As of the graders of runs."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"
    ERRORED = "errored"


# Judges' verdicts are numbered from here on, each by its judge: so that none has two on one trace, or on one span.
JUDGES_FROM = 1_000_000


class SpanVerdict(models.Model):
    """Holds what one rule, or judge, says of one span.

    That of a rule follows from the trace and is made again when more comes. That of a judge stays until it is asked
    again.
    """

    # Both have indexes below that begin with them.
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="verdicts", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    # Empty for a call that only the conversation tells of.
    span_id = models.CharField(max_length=16, blank=True)
    # A judge's is `TraceJudge.rule`.
    rule = models.CharField(max_length=60)
    version = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=8, choices=VerdictStatus.choices)
    value = models.FloatField(null=True)
    reason = models.CharField(max_length=500, blank=True)
    # Of a judge's verdict alone: whose it is, the snapshot that the endpoint says has answered, tokens and cost. The
    # cost is null where nothing was asked, or its judge has no prices.
    judge = models.ForeignKey(TraceJudge, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    snapshot = models.CharField(max_length=120, blank=True, db_default="")
    tokens = models.PositiveIntegerField(null=True)
    judge_cost = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["trace", "number", "span_id"], name="verdict_on_a_span"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "rule", "status", "trace"], name="span_verdict_of_a_rule"),
        ]
