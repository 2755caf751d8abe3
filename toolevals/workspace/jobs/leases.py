"""The right to work on a batch, for a while, proved by a token in its row."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from toolevals.workspace.jobs.completion import batch_complete
from toolevals.workspace.models import Batch, BatchState, Job, JobState


class LeaseLost(Exception):  # noqa: N818 - nothing is wrong: another worker has the batch
    """The batch is no longer ours. Whoever took it does all of it again; stop and write nothing."""


class JobCancelled(Exception):  # noqa: N818 - as above
    """Somebody cancelled the job. Stop and write nothing."""


class Lease:
    """What a worker holds while it works on a batch. Everything it writes, it writes within `transaction()`."""

    def __init__(self, batch: Batch, token: uuid.UUID) -> None:
        self.batch = batch
        self.token = token
        self.finished = False

    @property
    def payload(self) -> Any:
        """What to do, as the batch's plan said it."""
        return self.batch.payload

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One atomic block that begins by proving and extending the lease.

        The batch's row stays locked to the end, so that nobody can take the batch meanwhile. Raises `LeaseLost` or
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

    def extend(self) -> None:
        """Prove the lease and start its time anew. Raises `LeaseLost` or `JobCancelled`."""
        self._update()

    def progress(self, done: int) -> None:
        """Say how many items of the batch are done so far. Raises as `extend`."""
        self._update(done=min(done, self.batch.size))

    def report(self, found: dict[str, Any]) -> None:
        """Merge `found` into the job's report: numbers are added up, lists joined, anything else replaced.

        Call it within `finish()`, so that a batch that is done again does not report twice.
        """
        job = Job.objects.select_for_update(no_key=True).get(pk=self.batch.job_id)
        job.report = _merged(job.report, found)
        job.save(update_fields=["report"])

    def _update(self, **changes: Any) -> None:
        running = Job.objects.filter(pk=OuterRef("job_id"), state=JobState.RUNNING)
        ours = Batch.objects.filter(pk=self.batch.pk, state=BatchState.LEASED, lease_token=self.token)
        if not ours.filter(Exists(running)).update(due_at=lease_end(timezone.now()), **changes):
            raise JobCancelled if ours.exists() else LeaseLost


def lease_claim(batch_id: str) -> Lease | None:
    """Take a batch if it is due; of any number of workers that try at once, one gets it."""
    now, token = timezone.now(), uuid.uuid4()
    taken = (
        Batch.objects.due(now)
        .filter(pk=batch_id)
        .update(state=BatchState.LEASED, lease_token=token, attempts=F("attempts") + 1, due_at=lease_end(now), done=0)
    )
    if not taken:
        return None
    return Lease(Batch.objects.select_related("job").get(pk=batch_id), token)


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
