"""Tell how a batch ends, and with it perhaps a stage and the job: one transaction, the job's row locked.

The row's lock lets batches that end together take turns: the last one, and only that one, sees no other open.
Every transaction locks its own batch first and the job second, so that two of them never wait for each other.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.notify import notify_after_commit
from toolevals.workspace.models import Batch, BatchState, Job, JobState
from toolevals.workspace.models.jobs import NO_REASON

BACKOFF_LIMIT_SECONDS = 300
ERROR_LENGTH = 2000


@transaction.atomic
def batch_complete(batch: Batch) -> None:
    """Mark a leased batch done. The caller has proved the lease in this transaction."""
    Batch.objects.filter(pk=batch.pk).update(
        state=BatchState.DONE, done=F("size"), lease_token=None, rung_at=None, error=""
    )
    job_advance(batch.job_id)


@transaction.atomic
def batch_fail(batch: Batch, token: Any, error: str, *, again: bool) -> None:
    """Write down that an attempt failed: queued again after a while, or failed for good. Nothing if the lease is lost.

    The wait doubles with each attempt: 2, 4, 8 seconds and so on, at most five minutes.
    """
    again = again and batch.attempts < settings.BATCH_MAX_ATTEMPTS
    wait = timedelta(seconds=min(2**batch.attempts, BACKOFF_LIMIT_SECONDS))
    changed = Batch.objects.filter(pk=batch.pk, state=BatchState.LEASED, lease_token=token).update(
        state=BatchState.QUEUED if again else BatchState.FAILED,
        lease_token=None,
        rung_at=None,
        done=0,
        due_at=database_now() + wait,
        error=(error or NO_REASON)[:ERROR_LENGTH],
    )
    if changed and not again:
        job_advance(batch.job_id)


@transaction.atomic
def batch_abandon(batch: Batch, token: Any) -> None:
    """Mark a leased batch of a cancelled job cancelled; queue it again where its job was taken up again meanwhile."""
    ours = Batch.objects.filter(pk=batch.pk, state=BatchState.LEASED, lease_token=token)
    if not ours.update(state=BatchState.CANCELLED, lease_token=None, rung_at=None, done=0):
        return
    if Job.objects.select_for_update(no_key=True).get(pk=batch.job_id).is_open:
        Batch.objects.filter(pk=batch.pk).update(state=BatchState.QUEUED, attempts=0, due_at=database_now())
        notify_after_commit()


def job_advance(job_id: Any) -> None:
    """End the job's stage, and perhaps the job, if none of its batches is open. Within the caller's transaction."""
    job = Job.objects.select_for_update(no_key=True).get(pk=job_id)
    batches = Batch.objects.filter(job=job_id)
    of_stage = batches.filter(stage=job.stage)
    if not job.is_open or of_stage.open().exists():
        return
    following = batches.filter(stage__gt=job.stage).open().order_by("stage").values_list("stage", flat=True)[:1]
    if of_stage.filter(state=BatchState.FAILED).exists():
        job.state, job.finished_at = JobState.FAILED, database_now()
    elif (next_stage := following.first()) is None:
        job.state, job.finished_at = JobState.SUCCEEDED, database_now()
    else:
        job.stage, job.pace_since = next_stage, None
    job.save(update_fields=["state", "stage", "finished_at", "pace_since"])
    notify_after_commit()
