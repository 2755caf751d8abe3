"""Deleting in tests: what was deleted is past its days, and workers destroy it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from celery import current_app

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Batch, BatchState, Job
from toolevals.workspace.trash.models import KEPT
from toolevals.workspace.trash.services import trash_put, trash_sweep


def destroyed(row: Any, actor: Any = None) -> int:
    """Delete a row and let its days in the trash pass; return how many jobs that destroy came to their end."""
    if not type(row).with_trash.get(pk=row.pk).is_deleted:
        trash_put(row=row, actor=actor)
    return swept()


def swept() -> int:
    """Let the days of everything in the trash pass; return how many jobs that destroy came to their end."""
    ended = 0
    # Those that another one has made due once more, too.
    while trash_sweep(database_now() + KEPT + timedelta(minutes=1)) or destroying():
        ended += jobs_destroy()
    return ended


def destroying() -> list[Batch]:
    """Return the batches that destroy and are open."""
    return list(Batch.objects.open().filter(job__in=Job.objects.destroying()).order_by("id"))


def jobs_destroy() -> int:
    """Run the jobs that destroy, and no other; return how many came to their end."""
    current_app.loader.import_default_modules()
    batches = destroying()
    for batch in batches:
        Batch.objects.filter(pk=batch.pk).update(state=BatchState.QUEUED, due_at=database_now() - timedelta(seconds=1))
        current_app.tasks[batch.task](str(batch.pk))
    left = {batch.pk for batch in destroying()}
    return sum(batch.pk not in left for batch in batches)
