"""Tell how a batch ends, and with it perhaps a stage and the job: one transaction, the job's row locked.

The row's lock lets batches that end together take turns: the last one, and only that one, sees no other open.
Every transaction locks its own batch first and the job second, so that two of them never wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.notify import notify_after_commit
from toolevals.workspace.models import Batch, BatchState, Job, JobState
from toolevals.workspace.models.jobs import NO_REASON
from toolevals.workspace.querysets.jobs import BatchQuerySet
from toolevals.workspace.querysets.prepared import A_SMALL_NUMBER, PreparedQuery, an_id
from toolevals.workspace.querysets.prepared_writes import PreparedUpdate

BACKOFF_LIMIT_SECONDS = 300
ERROR_LENGTH = 2000


@transaction.atomic
def batch_complete(batch: Batch) -> None:
    """Mark a leased batch done. The caller has proved the lease in this transaction."""
    _DONE.run(batch=batch.pk)
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
    [job] = _LOCKED.objects(job=job_id)
    if not job.is_open or _OPEN.rows(job=job_id, stage=job.stage):
        return
    following = _FOLLOWING.rows(job=job_id, stage=job.stage)
    if _FAILED.rows(job=job_id, stage=job.stage):
        job.state, job.finished_at = JobState.FAILED, database_now()
    elif not following:
        job.state, job.finished_at = JobState.SUCCEEDED, database_now()
    else:
        job.stage, job.pace_since = following[0][0], None
    job.save(update_fields=["state", "stage", "finished_at", "pace_since"])
    notify_after_commit()


_HOW_DONE = {"state": BatchState.DONE, "done": F("size"), "lease_token": None, "rung_at": None, "error": ""}
_DONE = PreparedUpdate(lambda batch: (Batch.objects.filter(pk=batch), _HOW_DONE), {"batch": an_id(1)})
_LOCKED = PreparedQuery(lambda job: Job.objects.select_for_update(no_key=True).filter(pk=job), {"job": an_id(1)})


def _of_stage(find: Callable[[BatchQuerySet], BatchQuerySet]) -> PreparedQuery:
    """Return the query of a batch of a job's stage that is found so."""
    return PreparedQuery(
        lambda job, stage: find(Batch.objects.filter(job=job, stage=stage)).order_by().values_list("pk")[:1], _STAGE
    )


def _following(job: UUID, stage: int) -> QuerySet[Batch, Any]:
    later = Batch.objects.filter(job=job, stage__gt=stage).open()
    return later.order_by("stage").values_list("stage")[:1]


_STAGE = {"job": an_id(1), "stage": A_SMALL_NUMBER}
_OPEN = _of_stage(lambda batches: batches.open())
_FAILED = _of_stage(lambda batches: batches.filter(state=BatchState.FAILED))
_FOLLOWING = PreparedQuery(_following, _STAGE)
