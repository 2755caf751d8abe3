"""Background work of `labeling`: each task takes a batch's id and calls one service."""

from __future__ import annotations

from labeling.services import imports
from toolevals.celery import app
from toolevals.workspace.jobs import batch_work


@app.task(name="labeling.import_part")
def import_part(batch_id: str) -> None:
    """Read one part of a file."""
    batch_work(batch_id, imports.import_part)


@app.task(name="labeling.import_publish")
def import_publish(batch_id: str) -> None:
    """Publish a file that was read."""
    batch_work(batch_id, imports.import_publish)
