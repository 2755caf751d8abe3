"""Runs `toolevals versions`: lists a dataset's frozen versions, freezes one, and says what one is."""

from __future__ import annotations

import argparse
import json
from typing import Any

from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.client import Project
from toolevals.json_types import JsonObject


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("versions")
    parser.add_argument("dataset", metavar="DATASET", help="the dataset's slug; with @3 or @TAG, that version only")
    parser.add_argument("--freeze", metavar="NOTE", help="freeze a new version first, unless nothing has changed")
    parser.add_argument(
        "--misfits-reason", metavar="TEXT", help="why --freeze takes labels that break their tools' schemas as well"
    )
    parser.add_argument("--tag", action="append", metavar="TAG", help="add a tag to the version; may be repeated")
    parser.add_argument("--move", action="store_true", help="move the tag if another version has it")
    parser.add_argument("--note", metavar="TEXT", help="note for the version")
    parser.add_argument("--json", action="store_true", help="print the versions as the REST interface shows them")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked and print the version, or all of them, the newest first."""
    client = project_of(arguments)
    dataset, _, which = arguments.dataset.partition("@")
    versions = f"datasets/{dataset}/versions/"
    if arguments.freeze is not None:
        body = {"note": arguments.freeze, "misfits_reason": arguments.misfits_reason or ""}
        which = str(client.request("POST", versions, json=body)["number"])
    if arguments.tag or arguments.note is not None:
        shown = [_describe(client, versions, which, arguments)]
    elif which:
        shown = [client.request("GET", f"{versions}{which}/")]
    else:
        shown = list(client.pages(versions))
    say(json.dumps(shown, indent=2) if arguments.json else "\n".join(map(_line, shown)))
    return Exit.OK


def _describe(client: Project, versions: str, which: str, arguments: argparse.Namespace) -> Any:
    """Change the version that is named, by default the newest."""
    found = client.request("GET", f"{versions}{which}/") if which else next(client.pages(versions), None)
    if found is None:
        raise CommandError(Exit.DATA, "there is no version yet: freeze one with --freeze NOTE")
    change: JsonObject = {"move": arguments.move}
    if arguments.tag:
        change["tags"] = [*found["tags"], *arguments.tag]
    if arguments.note is not None:
        change["note"] = arguments.note
    return client.request("PATCH", f"{versions}{found['number']}/", json=change)


def _line(version: JsonObject) -> str:
    tags = f" [{', '.join(version['tags'])}]" if version["tags"] else ""
    note = f"  {version['note']}" if version["note"] else ""
    return f"{version['name']}{tags}  {version['size']} examples, {version['created_at'][:10]}{note}"
