"""Asks an MCP server for its tools, and publishes them: in a job, since the server may be slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.urls import reverse

from toolevals.agents.options import McpOptions
from toolevals.registry.mcp_servers import mcp_access, mcp_tools
from toolevals.registry.models import Registry
from toolevals.registry.services import registry_publish
from toolevals.workspace.jobs import BatchPlan, Lease, job_create
from toolevals.workspace.models import Job, User
from toolevals.workspace.services.audit import audit_record

KIND = "tools"


def registry_fetch_begin(*, registry: Registry, actor: User | None, options: Mapping[str, Any], note: str = "") -> Job:
    """Begin to ask an MCP server for its tools, which are published as `registry_publish` does; return the job.

    `options` are those of `McpOptions`. Raises InvalidDocument where the server may not be asked.
    """
    read = McpOptions.from_document(options)
    # Outside of the transaction: what is refused is audited.
    mcp_access(registry.project, read, actor=actor)
    with transaction.atomic():
        job = job_create(
            project=registry.project,
            actor=actor,
            kind=KIND,
            title=f"Ask {read.url or read.line} for the tools of {registry.name}",
            batches=[
                BatchPlan("registry.fetch", {"registry": str(registry.pk), "options": read.to_document(), "note": note})
            ],
            result_path=reverse("registry:registry", args=[registry.project.slug, registry.slug]),
        )
        detail = {"job": str(job.pk), "server": read.url or read.line}
        audit_record(project=registry.project, actor=actor, verb="registry_fetch_begin", target=registry, detail=detail)
    return job


def registry_fetch(lease: Lease) -> None:
    """Ask the server and publish what it lists: what the job's batch does."""
    said, job = lease.payload, lease.batch.job
    registry = Registry.objects.select_related("project").get(pk=said["registry"])
    document = mcp_tools(registry.project, McpOptions.from_document(said["options"]))
    with lease.finish():
        version = registry_publish(
            registry=registry, actor=job.actor, document=document, format="mcp", note=said["note"]
        )
        address = reverse("registry:version", args=[registry.project.slug, registry.slug, version.number])
        Job.objects.filter(pk=job.pk).update(result_path=address)
        lease.report({"registry": registry.slug, "version": version.number, "name": str(version)})
