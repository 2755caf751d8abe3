"""Delete traces that a project no longer keeps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from uuid import UUID

from toolevals.traces.intake.models import RETENTION_DAYS, came_at, first_id
from toolevals.traces.models import Trace, TraceSettings
from toolevals.traces.production.trace_hours import trace_hours_reopen
from toolevals.workspace.models import Project
from toolevals.workspace.trash.kinds import delete_in_parts

# So long a round deletes at most; the next goes on.
SECONDS = 10.0


def traces_forget(now: datetime) -> None:
    """Delete the traces that came before what their project keeps, all but those of which examples were made."""
    until = monotonic() + SECONDS
    days = dict(TraceSettings.objects.values_list("project", "retention_days"))
    for project in Project.with_trash.filter(traces__isnull=False).distinct().values_list("pk", flat=True):
        before = now - timedelta(days=days.get(project, RETENTION_DAYS))
        # By their ids first, which have an index: a trace began to come before the last of it came.
        old = Trace.objects.filter(project=project, pk__lt=first_id(before), received_at__lt=before, examples=None)
        if not delete_in_parts(old, until, and_then=partial(_traces_gone, project)):
            return


def _traces_gone(project: UUID, traces: Sequence[UUID]) -> None:
    trace_hours_reopen(project, (came_at(pk) for pk in traces))
