"""Stops a job, pauses it, resumes it, and retries one that failed."""

from __future__ import annotations

from django.db import transaction

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.completion import job_advance
from toolevals.workspace.jobs.notify import notify_after_commit
from toolevals.workspace.models import Batch, BatchState, Job, JobState, User
from toolevals.workspace.services.audit import audit_record


class JobStateError(ValueError):
    """The job is not in a state in which this can be done."""


@transaction.atomic
def job_cancel(*, job: Job, actor: User | None) -> Job:
    """Stop a running or paused job: queued batches at once, those at work when they next write.

    Raises `JobStateError`.
    """
    locked = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    if not locked.is_open:
        raise JobStateError(f"The job is {locked.state}; only a running or paused job can be cancelled.")
    if not locked.can_be_cancelled:
        raise JobStateError(
            "A job that destroys can be paused, not cancelled: what it has destroyed does not come back. "
            "Before it begins, restore what it is for from the trash."
        )
    locked.state, locked.finished_at = JobState.CANCELLED, database_now()
    locked.save(update_fields=["state", "finished_at"])
    Batch.objects.filter(job=locked, state=BatchState.QUEUED).update(state=BatchState.CANCELLED, rung_at=None)
    audit_record(project=locked.project, actor=actor, verb="job_cancel", target=locked)
    return locked


@transaction.atomic
def job_pause(*, job: Job, actor: User | None) -> Job:
    """Begin nothing more of a running job until it is resumed. Raises `JobStateError`.

    Batches at work come to their end; those of agents and judges finish the conversations in hand and are put back.
    """
    locked = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    if locked.state != JobState.RUNNING:
        raise JobStateError(f"The job is {locked.state}; only a running job can be paused.")
    locked.state = JobState.PAUSED
    locked.save(update_fields=["state"])
    audit_record(project=locked.project, actor=actor, verb="job_pause", target=locked)
    return locked


@transaction.atomic
def job_resume(*, job: Job, actor: User | None) -> Job:
    """Go on with a paused job. Raises `JobStateError`."""
    locked = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    if locked.state != JobState.PAUSED:
        raise JobStateError(f"The job is {locked.state}; only a paused job can be resumed.")
    locked.state, locked.pace_since = JobState.RUNNING, None
    locked.save(update_fields=["state", "pace_since"])
    audit_record(project=locked.project, actor=actor, verb="job_resume", target=locked)
    notify_after_commit()
    return locked


@transaction.atomic
def job_retry(*, job: Job, actor: User | None) -> Job:
    """Queue the failed and cancelled batches of a job that ended without success. Raises `JobStateError`.

    What is done stays done. Errors by line that it reported are cleared.
    """
    locked = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    if locked.state not in (JobState.FAILED, JobState.CANCELLED):
        raise JobStateError(f"The job is {locked.state}; only a failed or cancelled job can be retried.")
    locked.state, locked.finished_at, locked.pace_since = JobState.RUNNING, None, None
    locked.report = {key: value for key, value in locked.report.items() if key != "errors"}
    locked.save(update_fields=["state", "finished_at", "pace_since", "report"])
    Batch.objects.filter(job=locked, state__in=[BatchState.FAILED, BatchState.CANCELLED]).update(
        state=BatchState.QUEUED, attempts=0, done=0, due_at=database_now(), rung_at=None, error=""
    )
    # Everything may have been done already: a batch can end in the moment of a cancel.
    job_advance(locked.pk)
    audit_record(project=locked.project, actor=actor, verb="job_retry", target=locked)
    notify_after_commit()
    locked.refresh_from_db()
    return locked
