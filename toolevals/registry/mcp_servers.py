"""Reaches MCP servers for a project, where the operator allows it, and publishes their tools in jobs."""

from __future__ import annotations

from typing import TypedDict

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from toolevals.agents.network import AddressPolicy
from toolevals.agents.options import McpOptions
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.models import Registry, RegistryVersion, ToolSource
from toolevals.registry.services import registry_publish
from toolevals.registry.sources.models import SourceKind
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Project, User
from toolevals.workspace.secrets.services import SecretUnusableError, secret_for

# Quick work of others waits behind it, where there is one worker.
MOST_SECONDS = 20.0


class McpAccess(TypedDict):
    """The rights of a session with a server, in addition to its options."""

    key: str
    policy: AddressPolicy


def mcp_access(project: Project, options: McpOptions, *, actor: User | None = None) -> McpAccess:
    """Return what lets a project's session in. Raises InvalidDocument where it may not be had.

    A command is code on this machine: it runs only if the operator has named that very command.
    """
    if options.command and options.line not in settings.MCP_COMMANDS:
        raise InvalidDocument.at(
            "/command", f"{options.line!r} is not a command that the operator allows: see TOOLEVALS_MCP_COMMANDS."
        )
    try:
        key = ""
        if options.secret and options.url:
            key = secret_for(project=project, name=options.secret, address=options.address, actor=actor)
    except SecretUnusableError as error:
        raise InvalidDocument.at("/secret", str(error)) from None
    return {"key": key, "policy": AddressPolicy.of(settings.AGENT_NETWORKS)}


def mcp_tools(project: Project, options: McpOptions) -> JsonObject:
    """Return a server's whole `tools/list`. Raises InvalidDocument where it cannot be had within MOST_SECONDS."""
    # Loading the client takes seconds, which most web processes never need.
    from toolevals.agents.mcp_client import McpSession, McpUnreachableError

    try:
        return McpSession(options, **mcp_access(project, options)).tools_at_once(MOST_SECONDS)
    except McpUnreachableError as error:
        raise InvalidDocument.at("/command" if options.command else "/url", str(error)) from None


KIND = "tools"


def registry_fetch_begin(*, registry: Registry, actor: User | None, options: JsonMapping, note: str = "") -> Job:
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
        _source_keep(version, said["options"], job.actor)
        address = reverse("registry:version", args=[registry.project.slug, registry.slug, version.number])
        Job.objects.filter(pk=job.pk).update(result_path=address)
        lease.report({"registry": registry.slug, "version": version.number, "name": str(version)})


def _source_keep(version: RegistryVersion, options: JsonMapping, actor: User | None) -> None:
    """Keep where a version came from as its registry's source, where none is kept yet."""
    now = database_now()
    seen = {"looked_at": now, "seen_at": now, "tools": version.tools, "losses": version.losses, "compared": version}
    made = {"kind": SourceKind.MCP, "options": dict(options), "actor": actor, **seen}
    ToolSource.objects.get_or_create(registry=version.registry, defaults=made)
