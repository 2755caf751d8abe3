"""Stores calls of tools in production: the rows from which the figures of tools are counted."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.traces.models.traces import Trace
from toolevals.workspace.models import Project


class ToolUse(models.Model):
    """One call in a trace. It follows from the trace's spans and is made again when more come."""

    # Both have indexes below that begin with them.
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="tool_uses", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    # The span that ran the tool; empty where only the conversation tells of the call.
    span_id = models.CharField(max_length=16, blank=True)
    number = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    # When its trace came, to the millisecond of the trace's id: lists of traces are narrowed down by that.
    came_at = models.DateTimeField()
    # Null where no span measured it.
    duration_ms = models.FloatField(null=True)
    # One of `toolevals.grading.layers.troubles.ERROR_CLASSES`; empty where the tool answered as it should.
    error_class = models.CharField(max_length=10, blank=True)
    # Whether the arguments fit the schema that was offered; null where none was.
    arguments_fit = models.BooleanField(null=True)
    # What is wrong with the arguments first.
    problem = models.CharField(max_length=300, blank=True)
    agent = models.CharField(max_length=120, blank=True)
    agent_version = models.CharField(max_length=80, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["trace", "number"], name="tool_use_of_a_trace"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # By trace within each, so that the newest traces come first without a look at the others.
            models.Index(fields=["project", "tool", "trace"], name="tool_use_of_a_tool"),
            models.Index(
                fields=["project", "error_class", "trace"],
                include=["tool"],
                condition=~models.Q(error_class=""),
                name="tool_use_with_an_error",
            ),
            models.Index(
                fields=["project", "trace"],
                include=["tool"],
                condition=models.Q(arguments_fit=False),
                name="tool_use_that_does_not_fit",
            ),
            models.Index(fields=["project", "came_at"], name="tool_use_time"),
        ]
