"""Background work of `registry`: each task takes a batch's id and calls one service."""

from __future__ import annotations

from toolevals.celery import app
from toolevals.registry.fetching import registry_fetch
from toolevals.workspace.jobs import batch_work


@app.task(name="registry.fetch")
def fetch(batch_id: str) -> None:
    """Ask an MCP server for its tools."""
    batch_work(batch_id, registry_fetch)
