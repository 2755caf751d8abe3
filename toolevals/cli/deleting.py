"""Runs `toolevals delete`, `trash`, `restore` and `destroy`: what owners delete, how it comes back, how it is gone."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from urllib.parse import quote

from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.client import Project
from toolevals.client.connection import Connection
from toolevals.json_types import JsonObject

# Each kind with the address of one, below its project's.
KINDS = {"dataset": "datasets/{}/", "run": "runs/{}/", "registry": "registries/{}/", "project": ""}


def add_parser(verbs: Verbs) -> None:
    """Add the verbs."""
    parser = verbs.add_parser("delete")
    _add_what(parser)
    parser.add_argument("--yes", action="store_true", help="skip the confirmation prompt")
    parser.set_defaults(run=delete)
    parser = verbs.add_parser("trash")
    parser.add_argument("--projects", action="store_true", help="list deleted projects instead")
    parser.set_defaults(run=trash)
    _add_output(parser)
    parser = verbs.add_parser("restore")
    _add_what(parser)
    parser.set_defaults(run=restore)
    parser = verbs.add_parser("destroy")
    _add_what(parser)
    parser.add_argument("--yes", action="store_true", help="skip typing the name to confirm")
    parser.set_defaults(run=destroy)


def delete(arguments: argparse.Namespace) -> int:
    """Move something to the trash and say until when it can be restored."""
    client = project_of(arguments)
    if arguments.kind == "project" and arguments.name != client.project:
        raise CommandError(Exit.CONFIGURATION, f"the token is of the project {client.project}, not of {arguments.name}")
    if not arguments.yes:
        _require_meant(f"Delete the {arguments.kind} {arguments.name}?")
    path = KINDS[arguments.kind].format(quote(arguments.name, safe=""))
    _show(arguments, client.request("DELETE", path))
    return Exit.OK


def trash(arguments: argparse.Namespace) -> int:
    """List what can be restored."""
    client = project_of(arguments)
    found = list(_deleted(client, projects=arguments.projects))
    say(json.dumps(found, indent=2) if arguments.json else "\n".join(map(_line, found)) or "The trash is empty.")
    return Exit.OK


def restore(arguments: argparse.Namespace) -> int:
    """Take something out of the trash; of several of one name the last deleted."""
    client = project_of(arguments)
    pk = _in_trash(client, arguments)
    if arguments.kind == "project":
        restored = _outside(client).request("POST", f"deleted-projects/{pk}/restore/")
    else:
        restored = client.post_once(f"trash/{pk}/restore/")
    _show(arguments, restored)
    return Exit.OK


def destroy(arguments: argparse.Namespace) -> int:
    """Have something in the trash destroyed, which a job does; of several the last deleted."""
    client = project_of(arguments)
    pk = _in_trash(client, arguments)
    if not arguments.yes:
        _require_typed(arguments)
    said = {"name": arguments.name}
    if arguments.kind == "project":
        item = _outside(client).request("POST", f"deleted-projects/{pk}/destroy/", json=said)
    else:
        item = client.post_once(f"trash/{pk}/destroy/", json=said)
    say(
        json.dumps(item, indent=2)
        if arguments.json
        else f"{arguments.kind} {arguments.name}: being deleted permanently"
    )
    return Exit.OK


def _in_trash(client: Project, arguments: argparse.Namespace) -> str:
    """Return the id of what is named. Raises CommandError where it is not in the trash."""
    for each in _deleted(client, projects=arguments.kind == "project"):
        if (each["kind"], each["name"]) == (arguments.kind, arguments.name):
            return str(each["id"])
    words = f"no {arguments.kind} {arguments.name} is in the trash; toolevals trash lists what is"
    raise CommandError(Exit.DATA, words)


def _add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("name", metavar="NAME", help="its slug, or the number of a run")
    _add_output(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print what the REST interface shows")
    add_server_options(parser)


def _require_meant(question: str) -> None:
    """Ask on a terminal. Raises CommandError where no one can be asked, or the answer is no."""
    if not sys.stdin.isatty():
        raise CommandError(Exit.CONFIGURATION, "cannot ask for confirmation without a terminal: use --yes to delete")
    say(f"{question} It can be restored for 30 days. [y/N] ", end="")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError(Exit.CONFIGURATION, "nothing was deleted")


def _require_typed(arguments: argparse.Namespace) -> None:
    """Have the name typed on a terminal. Raises CommandError where no one can be asked, or something else is typed."""
    if not sys.stdin.isatty():
        raise CommandError(
            Exit.CONFIGURATION, "cannot ask for confirmation without a terminal: use --yes to delete permanently"
        )
    say(
        f"The {arguments.kind} {arguments.name} will be permanently deleted. Type {arguments.name} to confirm: ", end=""
    )
    if sys.stdin.readline().strip() != arguments.name:
        raise CommandError(Exit.CONFIGURATION, "nothing was deleted")


def _show(arguments: argparse.Namespace, item: JsonObject) -> None:
    say(json.dumps(item, indent=2) if arguments.json else _line(item))


def _line(item: JsonObject) -> str:
    what = f"{item['kind']} {item['name']}"
    if not item["deleted_at"]:
        return f"{what}: restored"
    who = f" by {item['deleted_by']['name']}" if item["deleted_by"] else ""
    return f"{what}: deleted {item['deleted_at'][:10]}{who}, deleted permanently {item['destroy_at'][:10]}"


def _deleted(client: Project, *, projects: bool) -> Iterator[JsonObject]:
    """Yield what was deleted, the last deleted first, a page at a time."""
    yield from _outside(client).pages("deleted-projects/") if projects else client.pages("trash/")


def _outside(client: Project) -> Connection:
    """Return a client for what is in no project."""
    token = client.http.headers["Authorization"].removeprefix("Bearer ")
    return Connection(client.server, token, note=client.note)
