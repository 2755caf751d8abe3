"""Runs `toolevals export`: writes a dataset, a frozen version of it, or a table of a run as a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from toolevals.cli.output import CommandError, Exit, note, write_parts
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.json_types import JsonObject

FORMATS = ("jsonl", "csv", "labels-csv", "parquet", "labels-parquet", "bfcl", "openai-chat", "langsmith")
# Tables of a run, and how they are written.
COMPARED = "compare-cases"
TABLES = ("cases", "judged", "state", "trials", "episodes", COMPARED)
RUN_FORMATS = ("csv", "parquet")
# Formats that have no form for some examples.
PARTIAL = frozenset({"bfcl", "openai-chat"})


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("export")
    parser.add_argument(
        "dataset", nargs="?", metavar="DATASET", help="the dataset's slug; also with a version, as core@3 or core@TAG"
    )
    parser.add_argument(
        "--version", metavar="N", help="a frozen version, by number or tag; without it, the dataset now"
    )
    parser.add_argument("--run", type=int, dest="number", metavar="R", help="a table of this run in place of a dataset")
    parser.add_argument("--table", choices=TABLES, help=f"which table of the run; by default {TABLES[0]}")
    parser.add_argument("--candidate", metavar="R", help="with compare-cases: the run that is compared with")
    words = "default: jsonl, the only format without losses; of a run csv, the default, or parquet"
    parser.add_argument("--format", choices=FORMATS, help=words)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="by default standard output")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Stream the export; a file that could not be written whole is not left behind."""
    if (arguments.dataset is None) == (arguments.number is None):
        raise CommandError(Exit.CONFIGURATION, "say what to export: a DATASET or --run R, one of them")
    if arguments.number is not None:
        return _table(arguments)
    if arguments.table or arguments.candidate:
        raise CommandError(Exit.CONFIGURATION, "--table and --candidate are of a run: give --run R")
    export_format = arguments.format or FORMATS[0]
    dataset, _, which = arguments.dataset.partition("@")
    which = arguments.version or which
    version = f"versions/{which}/" if which else ""
    path = f"datasets/{dataset}/{version}export/?as={export_format.replace('-', '_')}"
    client = project_of(arguments)
    if export_format in PARTIAL:
        _say_what_is_left_out(client.request("GET", f"{path}&summary=true"))
    write_parts(client.download(path), arguments.output)
    return Exit.OK


def _table(arguments: argparse.Namespace) -> int:
    if arguments.version:
        raise CommandError(Exit.CONFIGURATION, "--version is of a dataset, not of a run")
    table, form = arguments.table or TABLES[0], arguments.format or "csv"
    if form not in RUN_FORMATS:
        raise CommandError(Exit.CONFIGURATION, f"--format {form}: a table of a run is {' or '.join(RUN_FORMATS)}")
    if (table == COMPARED) != bool(arguments.candidate):
        raise CommandError(Exit.CONFIGURATION, f"--table {COMPARED} and --candidate R go together")
    filters = {"candidate": arguments.candidate} if arguments.candidate else {}
    run = project_of(arguments).run(arguments.number)
    write_parts(run.table(table, form, **filters), arguments.output)
    return Exit.OK


def _say_what_is_left_out(summary: JsonObject) -> None:
    """Name on standard error what the format has no form for."""
    for reason, count in summary["skipped_by_reason"].items():
        note(f"left out {count}: {reason}")
    for reason, count in summary["notes"].items():
        note(f"{count} with a loss: {reason}")
