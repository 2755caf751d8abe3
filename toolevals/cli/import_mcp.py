"""Runs `toolevals import mcp`: publishes what an MCP server lists, asked from here, as a registry version."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from toolevals.agents.mcp_options import McpOptions
from toolevals.cli.client import add_server_options
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.publishing import publish
from toolevals.grading.values.problems import InvalidDocument


def add_mcp_parser(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the kind."""
    parser = kinds.add_parser("mcp", help="publish what an MCP server lists as a registry version")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url", default="", metavar="URL", help="of streamable HTTP; TOOLEVALS_MCP_TOKEN lets it in")
    where.add_argument("--command", default="", metavar="LINE", help="starts the server here and connects by pipes")
    parser.add_argument("--registry", required=True, metavar="SLUG", help="made if there is none")
    parser.add_argument("--note", default="")
    add_server_options(parser)
    parser.set_defaults(run=import_mcp)


def import_mcp(arguments: argparse.Namespace) -> int:
    """Ask the server for its tools and publish them."""
    said: dict[str, Any] = {"url": arguments.url} if arguments.url else {"command": shlex.split(arguments.command)}
    try:
        options = McpOptions.from_document(said)
    except InvalidDocument as error:
        raise CommandError(Exit.CONFIGURATION, str(error)) from error
    return publish(arguments, _tools(options), "mcp")


def _tools(options: McpOptions) -> dict[str, Any]:
    try:
        from toolevals.agents.mcp_client import McpSession, McpUnreachableError
        from toolevals.agents.network import AddressPolicy
    except ModuleNotFoundError as error:
        raise CommandError(Exit.CONFIGURATION, "MCP servers need more packages: install toolevals[server]") from error
    key = os.environ.get("TOOLEVALS_MCP_TOKEN", "")
    try:
        # Whoever types the command may call what their machine reaches.
        with McpSession(options, key=key, policy=AddressPolicy.of(["*"])) as session:
            return session.tools()
    except McpUnreachableError as error:
        raise CommandError(Exit.UNREACHABLE, str(error)) from error
