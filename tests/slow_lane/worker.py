"""The Celery app of a worker that takes its time: the first batch of every job is held for `SLOW_LANE_SECONDS`, and
until the file `SLOW_LANE_RELEASE` is there.

It is held as work that lasts is: under its lease, with progress, until the job is cancelled.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import django

from toolevals.celery import app

__all__ = ["app"]
django.setup()

from toolevals.workspace.jobs import leases as working  # noqa: E402 - it needs Django
from toolevals.workspace.jobs.leases import Lease  # noqa: E402
from toolevals.workspace.models import Batch, BatchState  # noqa: E402

HELD_SECONDS = float(os.environ["SLOW_LANE_SECONDS"])
RELEASE = Path(os.environ["SLOW_LANE_RELEASE"])
do = working._do


def hold(work: Callable[[Lease], None], lease: Lease) -> None:
    """Hold the batch if it is the job's first, and then do it."""
    if not Batch.objects.filter(job=lease.batch.job_id, state=BatchState.DONE).exists():
        until = time.monotonic() + HELD_SECONDS
        lease.progress(1)
        while time.monotonic() < until or not RELEASE.exists():
            time.sleep(1)
            lease.extend()
    do(work, lease)


working._do = hold
