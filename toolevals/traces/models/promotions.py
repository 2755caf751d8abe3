"""Examples that were made of traces."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models import Example
from toolevals.traces.models.traces import Trace
from toolevals.workspace.models import Project


class TraceExample(models.Model):
    """An example, and the turn of the trace that it was made of. The trace is kept as long as the example is."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="examples")
    example = models.OneToOneField(Example, on_delete=models.CASCADE, related_name="trace_example")
    # Turns count the user's messages, from 1.
    turn = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A turn may be in several datasets.
            models.UniqueConstraint(fields=["trace", "example"], name="example_of_a_trace"),
        ]
