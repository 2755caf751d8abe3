"""Deletes what owners may delete, restores it, and destroys it once its time in the trash is over."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q

from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import write_ahead_log_empty
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import BatchPreempted, Lease
from toolevals.workspace.jobs.services import BatchPlan, batch_complete, job_cancel, job_create, job_retry
from toolevals.workspace.models import DESTROY, Job, JobState, Project, User
from toolevals.workspace.trash.kinds import TrashKind, jobs_delete, kind_of, trash_kinds
from toolevals.workspace.trash.models import destroyed_from

# Between two looks of a job that destroys at whether other work waits.
TURN_SECONDS = 2.0
# Before what a job failed to destroy is tried again.
FAILED_AGAIN = timedelta(hours=1)
# Jobs of each kind that one round of the sweeper begins.
JOBS_AT_ONCE = 100


class TrashError(ValueError):
    """A request that does not fit the state of what was deleted."""


@transaction.atomic
def trash_put(*, row: Any, actor: User | None) -> Any:
    """Move a row to the trash: it is found nowhere else, and can be restored for 30 days.

    Its unfinished jobs are cancelled, and what people hold of it is released. Raises `TrashError` if it lies there.
    """
    kind, locked = _locked(row)
    if locked.is_deleted:
        raise TrashError(f"The {kind.name} {kind.title(locked)} was deleted before.")
    jobs = list(kind.jobs(locked))
    at_work = [job for job in jobs if job.is_open]
    for job in at_work:
        job_cancel(job=job, actor=actor)
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(trashed_with=locked.pk)
    said = kind.leave(locked, actor)
    locked.deletion = deletion_of(kind, locked)
    locked.deleted_at, locked.deleted_by = database_now(), actor
    locked.destroy_at = destroyed_from(locked.deleted_at)
    locked.save(update_fields=["deleted_at", "deleted_by", "destroy_at", "deletion"])
    detail = {"name": kind.key(locked), "destroy_at": locked.destroy_at.isoformat(), "jobs_cancelled": len(at_work)}
    audit_record(
        project=kind.project(locked), actor=actor, verb=f"{kind.name}_delete", target=locked, detail=detail | said
    )
    return locked


@transaction.atomic
def trash_restore(*, row: Any, actor: User | None) -> Any:
    """Take a row out of the trash as it was; jobs that were cancelled can be retried.

    Raises `TrashError` where it is not there, is being destroyed, or another row has its name by now.
    """
    kind, locked = _restorable(row)
    if kind.namesake(locked):
        raise TrashError(
            f"Another {kind.name} now has the short name {kind.key(locked)}. Delete that one before you restore "
            f"this one, or leave this one in the trash."
        )
    # A job that was to destroy it has destroyed nothing yet.
    Job.objects.destroying().filter(trashed_with=locked.pk).delete()
    Job.objects.filter(trashed_with=locked.pk).update(trashed_with=None)
    locked.deleted_at = locked.deleted_by = locked.destroy_at = locked.deletion = None
    try:
        with transaction.atomic():
            locked.save(update_fields=["deleted_at", "deleted_by", "destroy_at", "deletion"])
    except IntegrityError:
        raise TrashError(f"Another {kind.name} has just taken the short name {kind.key(locked)}.") from None
    detail = {"name": kind.key(locked)}
    audit_record(project=kind.project(locked), actor=actor, verb=f"{kind.name}_restore", target=locked, detail=detail)
    return locked


@transaction.atomic
def trash_destroy(*, row: Any, actor: User | None, typed: str) -> Any:
    """Have a row destroyed now, which a job does; `typed` must be its name. Raises `TrashError`."""
    kind, locked = _restorable(row)
    if typed.strip() != kind.key(locked):
        raise TrashError(f"Type {kind.key(locked)} to delete it permanently. Nothing was deleted.")
    locked.destroy_at = database_now()
    locked.save(update_fields=["destroy_at"])
    _destroy_begin(kind, locked, actor)
    detail = {"name": kind.key(locked)}
    verb = f"{kind.name}_destroy_now"
    audit_record(project=kind.project(locked), actor=actor, verb=verb, target=locked, detail=detail)
    return locked


def deletion_of(kind: TrashKind, row: Any) -> dict[str, Any]:
    """Return what goes with a row and what rests on it: `takes`, of counts and words, and `rests`, sentences."""
    takes = [{"count": count, "words": one if count == 1 else many} for count, one, many in kind.takes(row) if count]
    return {"takes": takes, "rests": list(kind.rests(row))}


def trash_sweep(now: datetime) -> int:
    """Begin to destroy what has been in the trash long enough; return how many jobs that are.

    The sweeper calls it again and again. What a job failed to destroy is tried again after an hour.
    """
    going = Job.objects.destroying().filter(trashed_with=OuterRef("pk"))
    going = going.filter(Q(finished_at=None) | Q(state=JobState.FAILED, finished_at__gt=now - FAILED_AGAIN))
    begun = 0
    for kind in trash_kinds().values():
        due = kind.model.with_trash.filter(~Exists(going), destroy_at__lte=now, destroyed_at=None)
        for pk in due.order_by("destroy_at", "pk").values_list("pk", flat=True)[:JOBS_AT_ONCE]:
            with transaction.atomic():
                begun += _destroy_begin(kind, _row_locked(kind, pk), None)
    return begun


def trash_destroy_work(lease: Lease) -> None:
    """Destroy a row with all that goes with it: what the job's batch does.

    What a worker that is killed leaves is a smaller rest, which the next goes on with.
    """
    kind = trash_kinds()[lease.payload["kind"]]
    with lease.transaction():
        row = _begin(kind, lease.payload["row"])
    if row is None:
        return
    while not (_turn(kind, row) and _end(lease, kind, row)):
        lease.progress(max(lease.batch.size - kind.left(row), 0))
        if lease.must_give_way():
            raise BatchPreempted
    write_ahead_log_empty()


def jobs_destroying(rows: Iterable[Any]) -> dict[UUID, Job]:
    """Return the newest job that destroys each of these rows, by their ids, with its progress."""
    jobs = Job.objects.destroying().filter(trashed_with__in=[row.pk for row in rows]).with_progress()
    return {job.trashed_with: job for job in jobs.order_by("id") if job.trashed_with}


def _destroy_begin(kind: TrashKind, row: Any, actor: User | None) -> bool:
    """Begin the job that destroys a locked row, or one that ended before its end again; return whether one begins."""
    last = Job.objects.destroying().filter(trashed_with=row.pk).order_by("-id").first()
    if row.destroy_at is None or (last is not None and last.is_open):
        return False
    if last is not None and last.can_be_retried:
        job_retry(job=last, actor=actor)
        return True
    batch = BatchPlan("workspace.destroy", {"kind": kind.name, "row": str(row.pk)}, size=max(kind.left(row), 1))
    title = f"Permanently delete {kind.kind_title(row)}"
    job = job_create(project=kind.project(row), actor=actor, kind="destroy", title=title, batches=[batch])
    Job.objects.filter(pk=job.pk).update(trashed_with=row.pk)
    return True


def _begin(kind: TrashKind, pk: str) -> Any:
    """Write down what a row holds: from here on no one can restore it. Return the row; None where it is not deleted."""
    row = kind.model.with_trash.select_for_update(no_key=True, of=("self",)).filter(pk=pk).first()
    if row is None or not row.is_deleted:
        return None
    if row.tombstone is None:
        row.tombstone = kind.remains(row)
        row.save(update_fields=["tombstone"])
    return row


def _turn(kind: TrashKind, row: Any) -> bool:
    """Destroy what goes with a row, for some seconds at most; return whether all is gone."""
    until = monotonic() + TURN_SECONDS
    jobs = Job.objects.filter(trashed_with=row.pk).exclude(kind=DESTROY)
    return kind.destroy(row, until) and jobs_delete(jobs, until)


def _end(lease: Lease, kind: TrashKind, row: Any) -> bool:
    """Remove a row and note that it is destroyed: it is gone, or stays as a tombstone. Return as `finish` of its kind.

    The job is done with it; that of a project goes with its project.
    """
    name, within = kind.key(row), None if isinstance(row, Project) else kind.project(row)
    with lease.transaction():
        if not kind.finish(row):
            return False
        left = kind.model.with_trash.filter(pk=row.pk).update(destroyed_at=database_now())
        # A project's own audit log went with it.
        detail = {"name": name, "is_tombstone": bool(left)} | row.tombstone
        audit_record(project=within, actor=None, verb=f"{kind.name}_destroy", target=row, detail=detail)
        if within is not None:
            batch_complete(lease.batch)
    lease.finished = True
    return True


def _locked(row: Any) -> tuple[TrashKind, Any]:
    kind = kind_of(row)
    return kind, _row_locked(kind, row.pk)


def _row_locked(kind: TrashKind, pk: Any) -> Any:
    return kind.model.with_trash.select_for_update(no_key=True, of=("self",)).get(pk=pk)


def _restorable(row: Any) -> tuple[TrashKind, Any]:
    kind, locked = _locked(row)
    if not locked.is_deleted:
        raise TrashError(f"The {kind.name} {kind.title(locked)} is not in the trash.")
    if locked.tombstone is not None:
        raise TrashError(f"The {kind.name} {kind.title(locked)} is being deleted permanently, or is already deleted.")
    return kind, locked
