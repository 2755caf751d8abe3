"""Reaches MCP servers for a project: with its secrets, where the operator allows it."""

from __future__ import annotations

from typing import Any, TypedDict

from django.conf import settings

from toolevals.agents.network import AddressPolicy
from toolevals.agents.options import McpOptions
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import Project, User
from toolevals.workspace.services.secrets import SecretUnusableError, secret_for

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


def mcp_tools(project: Project, options: McpOptions) -> dict[str, Any]:
    """Return a server's whole `tools/list`. Raises InvalidDocument where it cannot be had within MOST_SECONDS."""
    # Loading the client takes seconds, which most web processes never need.
    from toolevals.agents.mcp_client import McpSession, McpUnreachableError

    try:
        return McpSession(options, **mcp_access(project, options)).tools_at_once(MOST_SECONDS)
    except McpUnreachableError as error:
        raise InvalidDocument.at("/command" if options.command else "/url", str(error)) from None
