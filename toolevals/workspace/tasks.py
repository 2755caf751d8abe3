"""Defines the background work of `workspace`: each task calls one service, most with a batch's id."""

from __future__ import annotations

from toolevals.celery import app
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.notifications.sending import deliveries_send
from toolevals.workspace.projects.export import project_export_work
from toolevals.workspace.trash.services import trash_destroy_work


@app.task(name="workspace.destroy")
def destroy(batch_id: str) -> None:
    """Destroy what was deleted."""
    batch_work(batch_id, trash_destroy_work)


@app.task(name="workspace.project_export")
def project_export(batch_id: str) -> None:
    """Write a project's file."""
    batch_work(batch_id, project_export_work)


@app.task(name="workspace.notify")
def notify() -> None:
    """Send the messages that are due."""
    deliveries_send()
