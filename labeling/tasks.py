"""Define the background work of `labeling`: each task takes a batch's id and calls one service."""

from __future__ import annotations

from labeling.agreement import cache as counted
from labeling.batches import ordering, overlap
from labeling.coverage import cache as kept
from labeling.exports import services as exports
from labeling.imports import publish_import
from labeling.imports import services as imports
from labeling.lint import services as linting
from toolevals.celery import app
from toolevals.workspace.jobs.leases import batch_work


@app.task(name="labeling.import_prepare")
def import_prepare(batch_id: str) -> None:
    """Unpack and cut a file."""
    batch_work(batch_id, imports.import_prepare)


@app.task(name="labeling.import_part")
def import_part(batch_id: str) -> None:
    """Read one part of a file."""
    batch_work(batch_id, imports.import_part)


@app.task(name="labeling.import_publish")
def import_publish(batch_id: str) -> None:
    """Publish a file that was read."""
    batch_work(batch_id, imports.import_publish)


@app.task(name="labeling.import_tell")
def import_tell(batch_id: str) -> None:
    """Write what became of the lines of a file that was published in parts."""
    batch_work(batch_id, imports.import_tell)


@app.task(name="labeling.export_write")
def export_write(batch_id: str) -> None:
    """Write a dataset to a file."""
    batch_work(batch_id, exports.export_write)


@app.task(name="labeling.overlap")
def overlap_apply(batch_id: str) -> None:
    """Bring one dataset's open examples to the number of labels that is wanted."""
    batch_work(batch_id, overlap.overlap_work)


@app.task(name="labeling.places")
def places_make(batch_id: str) -> None:
    """Make the places for labels that a dataset's examples lack."""
    batch_work(batch_id, publish_import.places_work)


@app.task(name="labeling.queue_order")
def queue_order(batch_id: str) -> None:
    """Order one dataset's queue."""
    batch_work(batch_id, ordering.queue_order_work)


@app.task(name="labeling.coverage_count")
def coverage_count(batch_id: str) -> None:
    """Count what a dataset covers."""
    batch_work(batch_id, kept.coverage_count_work)


@app.task(name="labeling.lint")
def lint(batch_id: str) -> None:
    """Lint a dataset."""
    batch_work(batch_id, linting.lint_work)


@app.task(name="labeling.agreement")
def agreement(batch_id: str) -> None:
    """Count agreement in a dataset."""
    batch_work(batch_id, counted.agreement_count_work)
