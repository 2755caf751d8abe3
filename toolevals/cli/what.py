"""Runs `toolevals what`: says what a file is, why, and what an import would read; nothing is sent or stored."""

from __future__ import annotations

import argparse
from pathlib import Path

import orjson

from labeling.imports.reading import file_looked_at
from toolevals.cli.inputs import read_input
from toolevals.cli.output import CommandError, Exit, note, say
from toolevals.cli.verbs import Verbs
from toolevals.grading.files.file_preview import FileLook
from toolevals.grading.values.problems import InvalidDocument


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("what", epilog="exit status: 0 readable, 5 unknown format or some parts unreadable")
    parser.add_argument("file", type=Path, metavar="FILE", help="any file; - is standard input")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what the file is and holds; return the exit status."""
    # The import's readers are loaded when they are wanted.

    try:
        look = file_looked_at(read_input(arguments.file))
    except InvalidDocument as error:
        lines = [f"{arguments.file}: {problem}" for problem in error.problems]
        raise CommandError(Exit.DATA, "\n".join(lines)) from None
    if arguments.json:
        say(orjson.dumps(look.to_document(), option=orjson.OPT_INDENT_2).decode())
    else:
        _say(look)
    return Exit.DATA if look.error_count else Exit.OK


def _say(look: FileLook) -> None:
    say(look.kind.sentence)
    for what, count in look.counts.items():
        say(f"{what}: {count:,}")
    if look.agents:
        say(f"agents: {', '.join(look.agents)}")
    for row in look.rows:
        say(f"  {row.name}  {row.says}")
    for loss in look.losses:
        note(f"not carried over: {loss.count:,} x {loss.part} {loss.message} (first at {loss.first})")
    for error in look.errors:
        place = " ".join(filter(None, (f"line {error.line}" if error.line else "", error.pointer)))
        note(f"{place}: {error.message}" if place else error.message)
    if (more := look.error_count - len(look.errors)) > 0:
        note(f"and {more:,} more errors")
