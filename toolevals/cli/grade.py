"""`toolevals grade`: verdicts on a file of examples with their predictions, without server or database."""

from __future__ import annotations

import argparse
import json
import sys

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.grade_dialects import dialect_grading
from toolevals.cli.grade_files import rows_opened
from toolevals.cli.grade_lines import Grading, Lines
from toolevals.cli.grade_rows import NativeGrading
from toolevals.cli.output import say
from toolevals.cli.verbs import Verbs
from toolevals.cli.what_was_read import say_readings
from toolevals.grading.dialects.catalog import DIALECTS
from toolevals.grading.parsing import MESSAGE_FORMATS
from toolevals.presentation.csv import csv_stream


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "grade",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_options_in_words(),
    )
    parser.add_argument(
        "file", metavar="FILE", help="JSON Lines, plain or .gz, or another tool's file; - is standard input"
    )
    parser.add_argument("--dialect", choices=sorted(DIALECTS), help="give another tool's verdicts instead of ours")
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="an option of the dialect; may be repeated"
    )
    parser.add_argument("--agent", default="", metavar="NAME", help="of a file that holds several agents, this one")
    parser.add_argument("--format", choices=("jsonl", "csv", "table"), default="jsonl")
    parser.add_argument(
        "--messages",
        choices=MESSAGE_FORMATS,
        metavar="NAME",
        help=f"the format of `messages` in rows that name none; else it is found: {', '.join(MESSAGE_FORMATS)}",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Grade every row in order and print its verdicts; bad rows are named on standard error and end in status 5."""
    grading = _grading(arguments)
    with rows_opened(arguments.file, arguments.agent) as (file, bad):
        lines = Lines(file, grading, numbered=True)
        if arguments.format == "jsonl":
            for row in lines:
                sys.stdout.write(f"{json.dumps(grading.document(row), ensure_ascii=False)}\n")
        elif arguments.format == "csv":
            for chunk in csv_stream(grading.columns, (grading.cells(row) for row in lines)):
                sys.stdout.write(chunk.decode())
        else:
            say(grading.summary(lines), end="")
    lines.say_the_rest()
    if isinstance(grading, NativeGrading):
        say_readings(grading.readings)
    return Exit.DATA if lines.bad or bad else Exit.OK


def _grading(arguments: argparse.Namespace) -> Grading:
    if arguments.dialect:
        if arguments.messages:
            raise CommandError(Exit.CONFIGURATION, "--messages is for our own verdicts: leave out --dialect")
        return dialect_grading(arguments.dialect, arguments.option)
    if arguments.option:
        raise CommandError(Exit.CONFIGURATION, "--option is for a dialect: name one with --dialect")
    return NativeGrading(arguments.messages)


def _options_in_words() -> str:
    lines = ["dialects and their options:"]
    for dialect in DIALECTS.values():
        lines.append(f"  {dialect.name} ({dialect.package} {dialect.version})")
        lines += [f"    {option.name}={option.takes}" for option in dialect.options]
    return "\n".join(lines)
