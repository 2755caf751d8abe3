"""Stores traces: each is one conversation or task of an agent in production, as a row that lists read."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.traces.querysets.traces import TraceQuerySet
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project


class Trace(models.Model):
    """The spans of one trace, summed up. What the summary says covers the batches that `settled` counts."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="traces")
    # As the sender gave it: 16 bytes.
    trace_id = models.UUIDField()

    # How many batches brought something new, how many spans there are, and their bytes before they are packed.
    arrivals = models.PositiveIntegerField(default=0)
    spans = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    # Whether the span above all others is there: senders send a span when it has ended.
    has_root = models.BooleanField(default=False)
    created_at = MomentField(auto_now_add=True)
    received_at = models.DateTimeField()
    # When it is to be summed up; null while there is nothing new.
    due_at = models.DateTimeField(null=True)
    settled = models.PositiveIntegerField(default=0)

    name = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField(null=True)
    duration_ms = models.FloatField(null=True)
    model = models.CharField(max_length=120, blank=True)
    agent = models.CharField(max_length=120, blank=True)
    agent_version = models.CharField(max_length=80, blank=True)
    session = models.CharField(max_length=200, blank=True)
    # Who spoke with the agent, as the sender names them.
    end_user = models.CharField(max_length=200, blank=True)
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    # In the currency of the recorder.
    cost = models.FloatField(null=True)
    calls = models.PositiveIntegerField(default=0)
    failed_calls = models.PositiveIntegerField(default=0)
    # Whether something in it came cut, dropped or changed: then no calls do not mean that none was made.
    is_cut = models.BooleanField(default=False, db_default=False)
    # Names of tools and classes of errors, each once, for the list.
    tools = DocumentField(default=list)
    error_classes = DocumentField(default=list)
    # Why the trace as a whole failed.
    error = models.CharField(max_length=500, blank=True)
    request = models.CharField(max_length=300, blank=True)
    # Its words, each once, with a space before each: see `toolevals.traces.reading.summary.searched`.
    text = models.TextField(blank=True)

    objects = TraceQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "trace_id"], name="trace_of_a_project"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["due_at"], name="trace_due", condition=models.Q(due_at__isnull=False)),
            models.Index(fields=["project", "-id"], name="trace_newest"),
            # Of what lists show alone: these indexes answer which traces are the newest without a look at the rows.
            *(
                models.Index(fields=["project", name, "-id"], name=f"trace_{name}", condition=models.Q(settled__gt=0))
                for name in ("session", "end_user", "agent", "model", "agent_version")
            ),
            models.Index(fields=["project", "duration_ms"], name="trace_duration"),
            models.Index(fields=["project", "cost"], name="trace_cost", condition=models.Q(cost__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.name or self.trace_id.hex

    def close(self) -> Trace:
        """Take out what an agent did, took and said, and return the trace: for someone who may still label it."""
        self.tools, self.error_classes, self.error = [], [], ""
        self.calls = self.failed_calls = 0
        self.duration_ms = self.input_tokens = self.output_tokens = self.cost = None
        return self

    @property
    def is_whole(self) -> bool:
        """Return whether its root has ended, and nothing new waits to be summed up."""
        return self.has_root and self.due_at is None
