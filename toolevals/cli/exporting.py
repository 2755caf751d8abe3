"""Runs `toolevals export`: writes a dataset, or a frozen version of it, as a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from toolevals.cli.output import Exit, note, write_parts
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.json_types import JsonObject

FORMATS = ("jsonl", "csv", "labels-csv", "bfcl", "openai-chat", "langsmith")
# Formats that have no form for some examples.
PARTIAL = frozenset({"bfcl", "openai-chat"})


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("export")
    parser.add_argument(
        "dataset", metavar="DATASET", help="the dataset's slug; also with a version, as core@3 or core@TAG"
    )
    parser.add_argument(
        "--version", metavar="N", help="a frozen version, by number or tag; without it, the dataset now"
    )
    parser.add_argument("--format", choices=FORMATS, default="jsonl", help="by default jsonl, which says everything")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="by default standard output")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Stream the export; a file that could not be written whole is not left behind."""
    dataset, _, which = arguments.dataset.partition("@")
    which = arguments.version or which
    version = f"versions/{which}/" if which else ""
    path = f"datasets/{dataset}/{version}export/?as={arguments.format.replace('-', '_')}"
    client = project_of(arguments)
    if arguments.format in PARTIAL:
        _say_what_is_left_out(client.request("GET", f"{path}&summary=true"))
    write_parts(client.download(path), arguments.output)
    return Exit.OK


def _say_what_is_left_out(summary: JsonObject) -> None:
    """Name on standard error what the format has no form for."""
    for reason, count in summary["skipped_by_reason"].items():
        note(f"left out {count}: {reason}")
    for reason, count in summary["notes"].items():
        note(f"{count} with a loss: {reason}")
