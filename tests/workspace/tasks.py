"""Celery tasks for the tests of the work queue. What a batch does is what its payload says."""

from __future__ import annotations

import os
import re
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

from celery import current_app

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import BatchRefused, Lease, batch_work, lease_claim
from toolevals.workspace.jobs.services import BatchPlan, job_add_batches
from toolevals.workspace.models import AuditEntry, Batch

EFFECT = "tests.effect"


def effects() -> list[Any]:
    """Return the ids of the batches whose effect was written, once for each time, oldest first."""
    return list(AuditEntry.objects.filter(verb=EFFECT).order_by("pk").values_list("target_id", flat=True))


def claimed(batch_id: object) -> Lease:
    """Return the lease of a batch that is due."""
    lease = lease_claim(str(batch_id))
    assert lease is not None
    return lease


def lost(batch_id: UUID) -> None:
    """Let the lease of a batch run out, and the next worker find it so; the batch is due again."""
    past = database_now() - timedelta(seconds=1)
    Batch.objects.filter(pk=batch_id).update(due_at=past)
    assert lease_claim(str(batch_id)) is None
    Batch.objects.filter(pk=batch_id).update(due_at=past)


def leave_effect(lease: Lease) -> None:
    """Write one row: what must happen exactly once for each batch."""
    AuditEntry.objects.create(project=lease.batch.job.project, verb=EFFECT, target_id=lease.batch.pk)


def work(lease: Lease) -> None:
    """Leave one effect, unless the payload asks for trouble."""
    payload = lease.payload
    if payload.get("raise"):
        raise RuntimeError(payload["raise"])
    if payload.get("refuse"):
        raise BatchRefused("The file is wrong.", [{"line": 3, "pointer": "/id", "message": payload["refuse"]}])
    if payload.get("dies"):
        os._exit(7)
    if payload.get("stands_still"):
        # It holds the interpreter's lock for longer than anyone waits.
        re.match("(a+)+$", "a" * 64 + "b")
    for item in range(payload.get("slow_items", 0)):
        time.sleep(payload["seconds"])
        lease.progress(item + 1)
    with lease.finish():
        leave_effect(lease)
        lease.report({"worked": 1})
        if payload.get("adds"):
            job_add_batches(lease.batch.job, [BatchPlan("tests.work", {}, stage=payload["adds"])])


@current_app.task(name="tests.work")
def work_task(batch_id: str) -> None:
    batch_work(batch_id, work)
