"""`toolevals delete`, `toolevals trash`, `toolevals restore`: what owners delete, and how it comes back."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any
from urllib.parse import quote

from toolevals.cli.client import ProjectClient, add_server_options
from toolevals.cli.connection import ServerClient
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import say
from toolevals.cli.verbs import Verbs

# Each kind with the address of one, below its project's.
KINDS = {"dataset": "datasets/{}/", "run": "runs/{}/", "registry": "registries/{}/", "project": ""}


def add_parser(verbs: Verbs) -> None:
    """Add the verbs."""
    parser = verbs.add_parser("delete")
    _add_what(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask whether it is meant")
    parser.set_defaults(run=delete)
    parser = verbs.add_parser("trash")
    parser.add_argument("--projects", action="store_true", help="list deleted projects instead")
    parser.set_defaults(run=trash)
    _add_output(parser)
    parser = verbs.add_parser("restore")
    _add_what(parser)
    parser.set_defaults(run=restore)


def delete(arguments: argparse.Namespace) -> int:
    """Move something to the trash and say until when it can be restored."""
    client = ProjectClient.from_arguments(arguments)
    if arguments.kind == "project" and arguments.name != client.project:
        raise CommandError(Exit.CONFIGURATION, f"the token is of the project {client.project}, not of {arguments.name}")
    if not arguments.yes:
        _require_meant(f"Delete the {arguments.kind} {arguments.name}?")
    path = KINDS[arguments.kind].format(quote(arguments.name, safe=""))
    _show(arguments, client.request("DELETE", path))
    return Exit.OK


def trash(arguments: argparse.Namespace) -> int:
    """List what can be restored."""
    client = ProjectClient.from_arguments(arguments)
    found = _deleted_projects(client) if arguments.projects else client.request("GET", "trash/")
    say(json.dumps(found, indent=2) if arguments.json else "\n".join(map(_line, found)) or "The trash is empty.")
    return Exit.OK


def restore(arguments: argparse.Namespace) -> int:
    """Take something out of the trash; of several of one name the last deleted."""
    client = ProjectClient.from_arguments(arguments)
    of_projects = arguments.kind == "project"
    found = _deleted_projects(client) if of_projects else client.request("GET", "trash/")
    named = [each for each in found if (each["kind"], each["name"]) == (arguments.kind, arguments.name)]
    if not named:
        words = f"no {arguments.kind} {arguments.name} is in the trash; toolevals trash lists what is"
        raise CommandError(Exit.DATA, words)
    if of_projects:
        restored = _outside(client).request("POST", f"deleted-projects/{named[0]['id']}/restore/")
    else:
        restored = client.post_once(f"trash/{named[0]['id']}/restore/")
    _show(arguments, restored)
    return Exit.OK


def _add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("name", metavar="NAME", help="its short name in addresses; of a run its number")
    _add_output(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print what the REST interface shows")
    add_server_options(parser)


def _require_meant(question: str) -> None:
    """Ask on a terminal. Raises CommandError where nobody can be asked, or the answer is no."""
    if not sys.stdin.isatty():
        raise CommandError(Exit.CONFIGURATION, "nobody can be asked here: give --yes to delete")
    say(f"{question} It can be restored for 30 days. [y/N] ", end="")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError(Exit.CONFIGURATION, "nothing was deleted")


def _show(arguments: argparse.Namespace, item: dict[str, Any]) -> None:
    say(json.dumps(item, indent=2) if arguments.json else _line(item))


def _line(item: dict[str, Any]) -> str:
    what = f"{item['kind']} {item['name']}"
    if not item["deleted_at"]:
        return f"{what}: restored"
    who = f" by {item['deleted_by']['name']}" if item["deleted_by"] else ""
    return f"{what}: deleted {item['deleted_at'][:10]}{who}, destroyed {item['destroy_at'][:10]}"


def _deleted_projects(client: ProjectClient) -> Any:
    return _outside(client).request("GET", "deleted-projects/")


def _outside(client: ProjectClient) -> ServerClient:
    """Return a client for what is in no project."""
    token = client.http.headers["Authorization"].removeprefix("Bearer ")
    return ServerClient(client.server, token)
