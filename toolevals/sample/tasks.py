"""Tell what workers do for the sample; the task takes a batch's id and calls one service."""

from __future__ import annotations

from toolevals.celery import app
from toolevals.sample.rest import rest_make
from toolevals.workspace.jobs.leases import batch_work


@app.task(name="sample.make")
def make(batch_id: str) -> None:
    """Make a part of the rest of the sample."""
    batch_work(batch_id, rest_make)
