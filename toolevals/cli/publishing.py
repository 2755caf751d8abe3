"""Publishing tools from the command line."""

from __future__ import annotations

import argparse
from typing import Any

from toolevals.cli.client import ProjectClient
from toolevals.cli.exits import Exit
from toolevals.cli.output import say


def publish(arguments: argparse.Namespace, document: Any, document_format: str) -> int:
    """Publish tools as the next version of the registry that the command line names, and say what was lost."""
    client = ProjectClient.from_arguments(arguments)
    ensure(client, "registries/", arguments.registry, {})
    body = {"document": document, "format": document_format, "note": arguments.note}
    version = client.post_once(f"registries/{arguments.registry}/versions/", json=body)
    say(f"{version['name']}: {version['size']} tools")
    for loss in version["losses"]:
        say(f"  not carried over, {loss['pointer']}: {loss['message']}")
    return Exit.OK


def ensure(client: ProjectClient, path: str, slug: str, fields: dict[str, Any]) -> None:
    """Make what is named where there is none of that name."""
    if not any(known["slug"] == slug for known in client.pages(path)):
        client.request("POST", path, json={"slug": slug, "name": slug, **fields})
