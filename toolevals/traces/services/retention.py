"""Delete traces that a project no longer keeps."""

from __future__ import annotations

from datetime import datetime, timedelta
from time import monotonic

from toolevals.traces.models import Trace, TraceSettings
from toolevals.traces.models.settings import RETENTION_DAYS
from toolevals.workspace.models import Project
from toolevals.workspace.trash.parts import delete_in_parts

# So long a round deletes at most; the next goes on.
SECONDS = 10.0


def traces_forget(now: datetime) -> None:
    """Delete the traces that came before what their project keeps, all but those that are kept for an example."""
    until = monotonic() + SECONDS
    days = dict(TraceSettings.objects.values_list("project", "retention_days"))
    for project in Project.with_trash.filter(traces__isnull=False).distinct().values_list("pk", flat=True):
        before = now - timedelta(days=days.get(project, RETENTION_DAYS))
        if not delete_in_parts(Trace.objects.filter(project=project, received_at__lt=before, kept=False), until):
            return
