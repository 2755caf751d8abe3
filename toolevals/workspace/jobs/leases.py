"""Gives the right to work on a batch for a while, proved by a token in its row.

The body of every Celery task calls `batch_work`: claim, work, complete, or write down why not.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NoReturn

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, models, transaction
from django.db.models import Exists, F, OuterRef, Sum

from toolevals import life
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.models import WAITING
from toolevals.workspace.jobs.services import ERROR_LENGTH, batch_abandon, batch_complete, batch_fail
from toolevals.workspace.jobs.turns import notify_after_commit, quick_work_waits
from toolevals.workspace.models import Batch, BatchState, Job, JobState
from toolevals.workspace.monitoring.json_log import log_about

logger = logging.getLogger(__name__)

# Between two looks at whether to give way.
LOOK_SECONDS = 1.0
# Before a batch that gave way is due again, so that the others come first.
AFTER_GIVING_WAY = timedelta(seconds=1)


class LeaseLost(Exception):  # noqa: N818 - nothing is wrong: another worker has the batch
    """The batch is no longer ours. The worker that took it does all of it again; stop and write nothing."""


class JobCancelled(Exception):  # noqa: N818 - as above
    """Someone cancelled the job. Stop and write nothing."""


class BatchPreempted(Exception):  # noqa: N818 - as above
    """Slow work stops before it is done, since quick work waits or its job is paused. Its batch is put back."""


class Lease:
    """The claim of a worker on a batch. Everything it writes, it writes within `transaction()`."""

    def __init__(self, batch: Batch, token: uuid.UUID) -> None:
        self.batch = batch
        self.token = token
        self.finished = False
        # Why the attempt before ended, shown again once the batch waits for nothing.
        self._trouble = "" if batch.error.startswith(WAITING) else batch.error
        self._look_again_at = 0.0
        self._gives_way = False

    @property
    def payload(self) -> Any:
        """Return what to do, as the batch's plan said it."""
        return self.batch.payload

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One atomic block that begins by proving and extending the lease.

        The batch's row stays locked to the end, so that no one can take the batch meanwhile. Raises `LeaseLost` or
        `JobCancelled` before anything is written.
        """
        with transaction.atomic():
            self.extend()
            yield

    @contextmanager
    def finish(self) -> Iterator[None]:
        """Like `transaction()`, and the batch is done with it: for writes that must not happen twice."""
        with self.transaction():
            yield
            batch_complete(self.batch)
        self.finished = True

    @contextmanager
    def keeping(self, done: int | None = None) -> Iterator[None]:
        """Like `transaction()`, and where the job was cancelled too: for what was paid for and stays true.

        `done` is as for `progress`. Raises `LeaseLost` before anything is written.
        """
        progress = {} if done is None else {"done": min(done, self.batch.size)}
        with transaction.atomic():
            if not _held(self.batch.pk, self.token).update(due_at=lease_end(database_now()), **progress):
                raise LeaseLost
            yield
        # Whatever was asked of the job meanwhile holds for what would be begun next.
        self._look_again_at = 0.0

    def extend(self) -> None:
        """Prove the lease and start its time again. Raises `LeaseLost` or `JobCancelled`."""
        self._update()

    def is_in_force(self) -> bool:
        """Return whether the lease still holds; it is not extended."""
        return _held(self.batch.pk, self.token).filter(due_at__gt=database_now()).exists()

    def progress(self, done: int) -> None:
        """Say how many items of the batch are done so far. Raises as `extend`."""
        self._update(done=min(done, self.batch.size))

    def note(self, waiting: str) -> None:
        """Say what the batch waits for, in a sentence that begins with "Waiting for "; empty when it goes on.

        Raises as `extend`.
        """
        self._update(error=waiting[:ERROR_LENGTH] or self._trouble)

    def must_give_way(self) -> bool:
        """Return whether slow work should begin nothing more: its job is paused, or quick work waits for this worker.

        Asked as often as one likes; the database is asked once a second at most, and after each `keeping()`.
        Raises `JobCancelled`.
        """
        if time.monotonic() >= self._look_again_at:
            self._look_again_at = time.monotonic() + LOOK_SECONDS
            state = Job.objects.values_list("state", flat=True).get(pk=self.batch.job_id)
            if state == JobState.CANCELLED:
                raise JobCancelled
            self._gives_way = state == JobState.PAUSED or quick_work_waits()
        return self._gives_way

    def give_way(self) -> None:
        """Put the batch back, to be taken up where it was left; this is no attempt that failed. Raises as `extend`."""
        with self.transaction():
            Batch.objects.filter(pk=self.batch.pk).update(
                state=BatchState.QUEUED,
                lease_token=None,
                rung_at=None,
                due_at=database_now() + AFTER_GIVING_WAY,
                attempts=F("attempts") - 1,
            )
        self.finished = True

    def report(self, found: dict[str, Any]) -> None:
        """Merge `found` into the job's report: numbers are added up, lists joined, anything else replaced.

        Call it within `finish()`, so that a batch that is done again does not report twice.
        """
        job = Job.objects.select_for_update(no_key=True).get(pk=self.batch.job_id)
        job.report = _merged(job.report, found)
        job.save(update_fields=["report"])

    def _update(self, **changes: Any) -> None:
        wanted = _held(self.batch.pk, self.token).filter(_is_open())
        if not wanted.update(due_at=lease_end(database_now()), **changes):
            self._raise_lost()

    def _raise_lost(self) -> NoReturn:
        raise JobCancelled if _held(self.batch.pk, self.token).exists() else LeaseLost


def lease_claim(batch_id: str) -> Lease | None:
    """Take a batch if it is due; of any number of workers that try at once, one gets it.

    A batch whose lease has run out is not taken: that attempt has failed, and what else waits comes first.
    """
    now, token = database_now(), uuid.uuid4()
    pk = uuid.UUID(batch_id)
    due = Batch.objects.due(now).filter(pk=pk)
    held = {"state": BatchState.LEASED, "lease_token": token, "due_at": lease_end(now)}
    if not due.filter(state=BatchState.QUEUED).update(**held, attempts=F("attempts") + 1, done=0):
        _blame_if_lost(due.filter(state=BatchState.LEASED), pk, token, now)
        return None
    batch = Batch.objects.select_related("job").get(pk=pk)
    if batch.job.pace_since is None:
        _pace_begin(batch.job, now)
    notify_after_commit()
    return Lease(batch, token)


@transaction.atomic
def _blame_if_lost(overdue: models.QuerySet[Batch], pk: uuid.UUID, token: uuid.UUID, now: datetime) -> None:
    """Count the attempt of a batch whose lease has run out, and say with its job and in the log that it failed.

    One that got further than those before counts for nothing: workers may die faster than a long batch is done.
    """
    if not overdue.update(lease_token=token, due_at=lease_end(now)):
        return
    batch = Batch.objects.select_related("job").get(pk=pk)
    error = "the worker that held it ended, or gave no sign of life."
    if batch.done > batch.furthest:
        # Such attempts come to an end: none goes further than the batch's size.
        batch.attempts -= 1
        Batch.objects.filter(pk=pk).update(furthest=batch.done, attempts=batch.attempts)
        error = f"An attempt got to {batch.done:,} of {batch.size:,}, further than those before: {error}"
    else:
        error = f"Attempt {batch.attempts} of {settings.BATCH_MAX_ATTEMPTS}: {error}"
    words = "Batch %s (stage %s, number %s; %s) of the job %s, %r: %s"
    job = batch.job
    logger.warning(words, batch.pk, batch.stage, batch.number, batch.task, job.pk, job.title, error)
    batch_fail(batch, token, error, again=True)
    notify_after_commit()


def _pace_begin(job: Job, now: datetime) -> None:
    """Note that work on the job's stage begins, or goes on after a pause; the first worker's word holds."""
    done = Batch.objects.filter(job=job, stage=job.stage).aggregate(done=Sum("done"))["done"] or 0
    Job.objects.filter(pk=job.pk, stage=job.stage, pace_since=None).update(pace_since=now, pace_done=done)


def lease_end(now: datetime) -> datetime:
    """Return until when a lease taken or extended now holds."""
    return now + timedelta(seconds=settings.BATCH_LEASE_SECONDS)


def _merged(report: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    sums = {key: report[key] + value for key, value in found.items() if _addable(value, report.get(key))}
    return {**report, **found, **sums}


def _addable(value: Any, before: Any) -> bool:
    if isinstance(value, bool) or isinstance(before, bool):
        return False
    return any(isinstance(value, kind) and isinstance(before, kind) for kind in (list, (int, float)))


def _held(batch: uuid.UUID, token: uuid.UUID) -> models.QuerySet[Batch]:
    """Return the batch while the lease of this token is in force."""
    return Batch.objects.filter(pk=batch, state=BatchState.LEASED, lease_token=token)


def _is_open() -> Exists:
    # What is at work when its job is paused may come to its end.
    return Exists(Job.objects.open().filter(pk=OuterRef("job_id")))


class BatchRefused(Exception):  # noqa: N818 - the batch's input is at fault
    """The batch can never succeed, however often it is tried: its input is wrong.

    `errors` are shown with the job: dictionaries of `line` (from 1), `pointer` and `message`. `undo` takes back what
    the batch was for, in the transaction that writes the refusal down.
    """

    def __init__(
        self, message: str, errors: Sequence[dict[str, Any]] = (), *, undo: Callable[[], None] | None = None
    ) -> None:
        super().__init__(message)
        self.errors = list(errors)
        self.undo = undo


def batch_work(batch_id: str, work: Callable[[Lease], None]) -> None:
    """Do `work` on a batch if it is due and no one else has it; otherwise return.

    An exception counts as an attempt, and the batch comes again after a while; `BatchRefused` and `InvalidDocument`
    fail it at once. A lost lease and a cancelled job stop it silently; `BatchPreempted` puts the batch back.
    """
    lease = lease_claim(batch_id)
    if lease is None:
        return
    with log_about(job_id=lease.batch.job_id, batch_id=batch_id, **_things_of(lease)):
        _work(lease, work)


def _things_of(lease: Lease) -> dict[str, Any]:
    """Return the ids of the run and the grading that a batch is for, as its plan names them."""
    payload = lease.payload if isinstance(lease.payload, dict) else {}
    return {f"{thing}_id": payload[thing] for thing in ("run", "grading") if thing in payload}


def _work(lease: Lease, work: Callable[[Lease], None]) -> None:
    batch_id = lease.batch.pk
    try:
        with _heartbeat(lease):
            _do(work, lease)
        if not lease.finished:
            with lease.finish():
                pass
    except LeaseLost:
        logger.info("Batch %s went to another worker.", batch_id)
    except JobCancelled:
        batch_abandon(lease.batch, lease.token)
    except (BatchRefused, InvalidDocument) as error:
        _refuse(lease, error)
    except Exception as error:
        logger.exception("Batch %s failed at attempt %s.", batch_id, lease.batch.attempts)
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        batch_fail(lease.batch, lease.token, f"{type(error).__name__}: {error}", again=True)


def _do(work: Callable[[Lease], None], lease: Lease) -> None:
    try:
        work(lease)
    except BatchPreempted:
        lease.give_way()


def _refuse(lease: Lease, error: BatchRefused | InvalidDocument) -> None:
    errors: list[dict[str, Any]]
    if isinstance(error, BatchRefused):
        errors = error.errors
    else:
        errors = [{"line": None, "pointer": each.pointer, "message": each.message} for each in error.problems]
    try:
        with lease.transaction():
            if errors:
                lease.report({"errors": errors})
            if isinstance(error, BatchRefused) and error.undo:
                error.undo()
            batch_fail(lease.batch, lease.token, str(error), again=False)
    except LeaseLost:
        logger.info("Batch %s went to another worker.", lease.batch.pk)
    except JobCancelled:
        batch_abandon(lease.batch, lease.token)


@contextmanager
def _heartbeat(lease: Lease) -> Iterator[None]:
    """Extend the lease from a thread of its own while work goes on, so that a slow batch is not taken for a dead one.

    Not forever: after `BATCH_MAX_SECONDS` a batch counts as hung unless it writes. Its lease runs out, and its process
    ends.
    """
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(lease, stop), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(lease: Lease, stop: threading.Event) -> None:
    until, is_lost = time.monotonic() + settings.BATCH_MAX_SECONDS, False
    while not stop.wait(settings.BATCH_LEASE_SECONDS / 3):
        try:
            if time.monotonic() >= until:
                _end_if_hung(lease)
            elif not is_lost:
                lease.extend()
        except (LeaseLost, JobCancelled):
            # The work hears of it when it next writes, unless it hangs.
            is_lost = True
        except (DatabaseError, InterfaceError) as error:
            logger.warning("The lease of batch %s could not be extended.", lease.batch.pk, exc_info=error)
        finally:
            connection.close()


def _end_if_hung(lease: Lease) -> None:
    """End this process, where it is a worker's, if the work has not written for so long that its lease is over."""
    if not lease.is_in_force():
        logger.error("Batch %s hangs, and its process is ended. It stands here:", lease.batch.pk)
        life.end_now()
