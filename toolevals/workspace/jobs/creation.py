"""Says what a job is made of, and makes jobs and their batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.notify import notify_after_commit
from toolevals.workspace.models import Batch, Job, JobState, Project, Queue, User


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A part of a job: the Celery task that does it, what to do, and how many items it holds.

    `payload` is JSON: ids and ranges, not contents. Batches of one stage run at once and in any order; a stage begins
    when the one before is done. `queue` is the kind of work, by which workers share it.
    """

    task: str
    payload: Mapping[str, Any]
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
