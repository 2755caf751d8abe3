"""Defines the background work of `registry`: each task takes a batch's id and calls one service."""

from __future__ import annotations

from toolevals.celery import app
from toolevals.registry.large_documents import large_preview_work, large_publish_work
from toolevals.registry.mcp_servers import registry_fetch
from toolevals.workspace.jobs.leases import batch_work


@app.task(name="registry.fetch")
def fetch(batch_id: str) -> None:
    """Ask an MCP server for its tools."""
    batch_work(batch_id, registry_fetch)


@app.task(name="registry.preview")
def preview(batch_id: str) -> None:
    """Read a large document of tools."""
    batch_work(batch_id, large_preview_work)


@app.task(name="registry.publish")
def publish(batch_id: str) -> None:
    """Publish a large document of tools."""
    batch_work(batch_id, large_publish_work)
