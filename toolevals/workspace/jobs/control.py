"""Stopping a job, and having another go at one that failed."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from toolevals.workspace.jobs.completion import job_advance
from toolevals.workspace.jobs.doorbell import ring_after_commit
from toolevals.workspace.models import Batch, BatchState, Job, JobState, User
from toolevals.workspace.services.audit import audit_record


class JobStateError(ValueError):
    """The job is not in a state in which this can be done."""


@transaction.atomic
def job_cancel(*, job: Job, actor: User | None) -> Job:
    """Stop a running job: queued batches at once, those at work when they next write. Raises `JobStateError`."""
    locked = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    if locked.state != JobState.RUNNING:
        raise JobStateError(f"The job is {locked.state}; only a running job can be cancelled.")
    locked.state, locked.finished_at = JobState.CANCELLED, timezone.now()
    locked.save(update_fields=["state", "finished_at"])
    Batch.objects.filter(job=locked, state=BatchState.QUEUED).update(state=BatchState.CANCELLED, rung_at=None)
    audit_record(project=locked.project, actor=actor, verb="job_cancel", target=locked)
    return locked


@transaction.atomic
def job_retry(*, job: Job, actor: User | None) -> Job:
    """Queue the failed and cancelled batches of a job that ended without success. Raises `JobStateError`.

    What is done stays done. Errors by line that it reported are cleared.
    """
    locked = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    if locked.state not in (JobState.FAILED, JobState.CANCELLED):
        raise JobStateError(f"The job is {locked.state}; only a failed or cancelled job can be retried.")
    locked.state, locked.finished_at = JobState.RUNNING, None
    locked.report = {key: value for key, value in locked.report.items() if key != "errors"}
    locked.save(update_fields=["state", "finished_at", "report"])
    Batch.objects.filter(job=locked, state__in=[BatchState.FAILED, BatchState.CANCELLED]).update(
        state=BatchState.QUEUED, attempts=0, done=0, due_at=timezone.now(), rung_at=None, error=""
    )
    # Everything may have been done already: a batch can end in the moment of a cancel.
    job_advance(locked.pk)
    audit_record(project=locked.project, actor=actor, verb="job_retry", target=locked)
    ring_after_commit()
    locked.refresh_from_db()
    return locked
