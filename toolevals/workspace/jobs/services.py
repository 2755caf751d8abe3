"""Makes jobs and their batches; stops, pauses, resumes and retries jobs; ends batches.

A batch ends in one transaction, and with it perhaps a stage and the job, whose row is locked. The lock lets batches
that end together take turns: the last one, and only that one, sees no other open. Every transaction locks its own batch
first and the job second, so that two of them never wait for each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max

from toolevals.json_types import JsonMapping
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.models import NO_REASON
from toolevals.workspace.jobs.turns import notify_after_commit
from toolevals.workspace.models import Batch, BatchState, EventKind, Job, JobState, Project, Queue, User
from toolevals.workspace.notifications.events import event_note


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A part of a job: the Celery task that does it, what to do, and how many items it holds.

    `payload` is JSON: ids and ranges, not contents. Batches of one stage run at once and in any order; a stage begins
    when the one before is done. `queue` is the kind of work, by which workers share it.
    """

    task: str
    payload: JsonMapping
    size: int = 1
    stage: int = 0
    queue: Queue = Queue.IO


@transaction.atomic
def job_create(
    *,
    project: Project,
    actor: User | None,
    kind: str,
    title: str,
    batches: Iterable[BatchPlan],
    priority: int = 0,
    result_path: str = "",
) -> Job:
    """Make a job, inside the transaction of the service that wants the work done; that service leaves the audit row.

    `kind` and `title` are for people. `priority`: higher first. `result_path`: where the outcome can be seen. Workers
    hear of it after the commit. A job without batches is done at once.
    """
    job = Job.objects.create(
        project=project, actor=actor, kind=kind, title=title[:200], priority=priority, result_path=result_path
    )
    made = _insert(job, batches)
    if made:
        job.stage = min(batch.stage for batch in made)
    else:
        job.state, job.finished_at = JobState.SUCCEEDED, database_now()
    job.save(update_fields=["stage", "state", "finished_at"])
    notify_after_commit()
    return job


def job_add_batches(job: Job, batches: Iterable[BatchPlan]) -> list[Batch]:
    """Add batches to a running job, for its current stage or a later one.

    Called only by a batch of that job, within `lease.finish()`: then what it adds and its own end are one, and a
    batch that is done again after a crash adds nothing twice.
    """
    locked = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    plans = list(batches)
    if any(plan.stage < locked.stage for plan in plans):
        raise ValueError("a batch cannot be added to a stage that is over")
    made = _insert(locked, plans)
    notify_after_commit()
    return made


def _insert(job: Job, plans: Iterable[BatchPlan]) -> list[Batch]:
    rows = Batch.objects.filter(job=job).order_by().values_list("stage").annotate(last=Max("number"))
    last = Counter(dict(rows))
    now = database_now()
    made = []
    for plan in plans:
        last[plan.stage] += 1
        made.append(
            Batch(
                job=job,
                stage=plan.stage,
                number=last[plan.stage],
                task=plan.task,
                payload=dict(plan.payload),
                queue=plan.queue,
                size=plan.size,
                due_at=now,
            )
        )
    return Batch.objects.bulk_create(made, batch_size=500)


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
            "A job that deletes permanently can be paused, not cancelled. "
            "Before it starts, you can restore the item from the trash."
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
        state=BatchState.QUEUED, attempts=0, done=0, furthest=0, due_at=database_now(), rung_at=None, error=""
    )
    # Everything may have been done already: a batch can end in the moment of a cancel.
    job_advance(locked.pk)
    audit_record(project=locked.project, actor=actor, verb="job_retry", target=locked)
    notify_after_commit()
    locked.refresh_from_db()
    return locked


BACKOFF_LIMIT_SECONDS = 300
# Kinds of jobs that ask agents or grade what they did.
KINDS_OF_RUNS = ("run", "grading")
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
        _failure_note(job)
    elif (next_stage := following.first()) is None:
        job.state, job.finished_at = JobState.SUCCEEDED, database_now()
    else:
        job.stage, job.pace_since = next_stage, None
    job.save(update_fields=["state", "stage", "finished_at", "pace_since"])
    notify_after_commit()


def _failure_note(job: Job) -> None:
    """Note that the work of a run failed. Why is told on its page alone: an error may quote what an agent said."""
    if job.kind in KINDS_OF_RUNS:
        event_note(
            project=job.project,
            kind=EventKind.RUN_FAILED,
            summary=f"Failed: {job.title}",
            path=job.result_path,
            facts={"job": str(job.pk), "title": job.title},
        )
