"""Deletes what owners may delete, restores it, and destroys it once its time in the trash is over."""

from __future__ import annotations

import logging
from datetime import datetime
from time import monotonic
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.deletion import ProtectedError, RestrictedError

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs import job_cancel
from toolevals.workspace.models import Job, Project, User
from toolevals.workspace.models.trash import destroyed_from
from toolevals.workspace.services.audit import audit_record
from toolevals.workspace.trash.kinds import TrashKind, kind_of, trash_kinds
from toolevals.workspace.trash.parts import RestsOnItself, jobs_delete

logger = logging.getLogger(__name__)

# A turn of the sweeper's duty: its others wait no longer than that.
TURN_SECONDS = 5.0


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
            f"Another {kind.name} has the short name {kind.key(locked)} by now. "
            f"Delete that one, or leave this one in the trash; then restore it."
        )
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
    """Have a row destroyed now, which a worker does; `typed` must be its name. Raises `TrashError`."""
    kind, locked = _restorable(row)
    if typed.strip() != kind.key(locked):
        raise TrashError(f"Type {kind.key(locked)} to destroy it. Nothing was destroyed.")
    locked.destroy_at = database_now()
    locked.save(update_fields=["destroy_at"])
    detail = {"name": kind.key(locked)}
    verb = f"{kind.name}_destroy_now"
    audit_record(project=kind.project(locked), actor=actor, verb=verb, target=locked, detail=detail)
    return locked


def deletion_of(kind: TrashKind, row: Any) -> dict[str, Any]:
    """Return what goes with a row and what rests on it: `takes`, of counts and words, and `rests`, sentences."""
    takes = [{"count": count, "words": one if count == 1 else many} for count, one, many in kind.takes(row) if count]
    return {"takes": takes, "rests": list(kind.rests(row))}


def trash_sweep(now: datetime, seconds: float = TURN_SECONDS) -> int:
    """Destroy what has been in the trash long enough, for some seconds at most; return how many rows are done.

    The sweeper calls it again and again: what one turn does not finish, or a process that is killed, the next goes on
    with.
    """
    until, done = monotonic() + seconds, 0
    for kind in trash_kinds().values():
        for row in kind.model.with_trash.filter(destroy_at__lte=now, destroyed_at=None).order_by("destroy_at", "pk"):
            if not _begin(kind, row, now):
                continue
            try:
                is_done = kind.destroy(row, until) and jobs_delete(Job.objects.filter(trashed_with=row.pk), until)
            except (ProtectedError, RestrictedError, RestsOnItself):
                # The others are not kept waiting for it.
                logger.exception("The %s %s cannot be destroyed.", kind.name, row.pk)
                continue
            if not is_done:
                return done
            _end(kind, row)
            done += 1
            if monotonic() >= until:
                return done
    return done


@transaction.atomic
def _begin(kind: TrashKind, row: Any, now: datetime) -> bool:
    """Write down what a row held, if no one restored it meanwhile: from here on no one can."""
    locked = kind.model.with_trash.select_for_update(no_key=True, of=("self",)).get(pk=row.pk)
    if locked.deleted_at is None or locked.destroy_at > now:
        return False
    if locked.tombstone is None:
        locked.tombstone = kind.remains(locked)
        locked.save(update_fields=["tombstone"])
    row.tombstone = locked.tombstone
    return True


@transaction.atomic
def _end(kind: TrashKind, row: Any) -> None:
    """Note that a row is destroyed: it is gone, or stays as a tombstone."""
    left = kind.model.with_trash.filter(pk=row.pk).update(destroyed_at=database_now())
    # A project's own audit log went with it.
    project = None if isinstance(row, Project) else kind.project(row)
    detail = {"name": kind.key(row), "is_tombstone": bool(left)} | row.tombstone
    audit_record(project=project, actor=None, verb=f"{kind.name}_destroy", target=row, detail=detail)


def _locked(row: Any) -> tuple[TrashKind, Any]:
    kind = kind_of(row)
    return kind, kind.model.with_trash.select_for_update(no_key=True, of=("self",)).get(pk=row.pk)


def _restorable(row: Any) -> tuple[TrashKind, Any]:
    kind, locked = _locked(row)
    if not locked.is_deleted:
        raise TrashError(f"The {kind.name} {kind.title(locked)} is not in the trash.")
    if locked.tombstone is not None:
        raise TrashError(f"The {kind.name} {kind.title(locked)} is being destroyed, or is destroyed already.")
    return kind, locked
