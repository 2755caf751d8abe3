"""Runs `toolevals grade`: grades a file of examples with their predictions, without server or database."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from toolevals.cli.blocks import add_jobs_option, answered, size_of
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.grade_dialects import dialect_grading
from toolevals.cli.grade_files import rows_opened
from toolevals.cli.grade_lines import Grading, Lines, Remarks, Told
from toolevals.cli.grade_rows import NativeGrading
from toolevals.cli.output import ProgressBar, write_parts
from toolevals.cli.verbs import Verbs
from toolevals.cli.what_was_read import say_readings
from toolevals.grading.dialects.catalog import DIALECTS
from toolevals.grading.reading.parsing import MESSAGE_FORMATS
from toolevals.grading.reading.reading_report import Readings
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
    parser.add_argument("--format", choices=tuple(_CONTENTS), default="jsonl")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="by default standard output")
    add_jobs_option(parser)
    parser.add_argument(
        "--messages",
        choices=MESSAGE_FORMATS,
        metavar="NAME",
        help=f"the format of `messages` in rows that name none; else it is found: {', '.join(MESSAGE_FORMATS)}",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Grade every row in order and print its verdicts; bad rows are named on standard error and end in status 5."""
    asked = Asked(arguments.dialect, tuple(arguments.option), arguments.messages, arguments.format)
    # Wrong options are told before anything is read.
    grading = asked.grading()
    remarks, readings = Remarks(), Readings()
    with rows_opened(arguments.file, arguments.agent) as (file, unread):
        answers = _answers(file, asked, arguments.jobs, remarks, readings)
        if arguments.format == "table":
            parts: Iterable[bytes] = (grading.summary(brief for some in answers for brief in some).encode(),)
        else:
            head = (_csv(grading, ()),) if arguments.format == "csv" else ()
            parts = chain(head, answers)
        if arguments.output is None:
            for part in parts:
                sys.stdout.write(part.decode())
        else:
            write_parts(parts, arguments.output)
    remarks.say_the_rest()
    say_readings(readings)
    return Exit.DATA if remarks.bad or unread else Exit.OK


@dataclass(frozen=True, slots=True)
class Asked:
    """How rows are graded and what is made of them: what every process that grades is told."""

    dialect: str | None
    options: tuple[str, ...]
    messages: str | None
    format: str

    def grading(self) -> Grading:
        """Return the grading. Raises CommandError where the options are wrong."""
        if self.dialect:
            if self.messages:
                raise CommandError(Exit.CONFIGURATION, "--messages is for our own verdicts: leave out --dialect")
            return dialect_grading(self.dialect, self.options)
        if self.options:
            raise CommandError(Exit.CONFIGURATION, "--option is for a dialect: name one with --dialect")
        return NativeGrading(self.messages, is_json=True)

    def work(self) -> Callable[[Sequence[bytes], int], Graded]:
        """Return what grades some lines, of which the first has this number."""
        grading = self.grading()

        def grade(lines: Sequence[bytes], first: int) -> Graded:
            rows = Lines(lines, first, grading, numbered=True)
            content = _CONTENTS[self.format](grading, rows)
            readings = grading.taken_readings() if isinstance(grading, NativeGrading) else Readings()
            return Graded(content, rows.count, rows.told, readings)

        return grade


class Graded(NamedTuple):
    """Some graded lines: what is printed of them (of a table, what it counts), and what is to be said of them."""

    content: Any
    rows: int
    told: Told
    readings: Readings


def _answers(file: IO[bytes], asked: Asked, jobs: int, remarks: Remarks, readings: Readings) -> Iterator[Any]:
    """Yield what is printed or counted of each block, and say what is to be said of it."""
    with ProgressBar("grading", size_of(file)) as bar:
        for done in answered(file, asked.work, jobs):
            graded = done.answer
            bar.add(graded.rows, done.bytes)
            remarks.add(graded.told)
            readings.join(graded.readings)
            yield graded.content


def _json(grading: Grading, rows: Iterable[Any]) -> bytes:
    return b"".join([grading.line(row) for row in rows])


def _csv(grading: Grading, rows: Iterable[Any]) -> bytes:
    return b"".join(csv_stream(grading.columns, (grading.cells(row) for row in rows)))


def _csv_rows(grading: Grading, rows: Iterable[Any]) -> bytes:
    return _csv(grading, rows).removeprefix(_csv(grading, ()))


def _briefs(grading: Grading, rows: Iterable[Any]) -> list[Any]:
    return [grading.brief(row) for row in rows]


_CONTENTS: Mapping[str, Callable[[Grading, Iterable[Any]], Any]] = {
    "jsonl": _json,
    "csv": _csv_rows,
    "table": _briefs,
}


def _options_in_words() -> str:
    lines = ["dialects and their options:"]
    for dialect in DIALECTS.values():
        lines.append(f"  {dialect.name} ({dialect.package} {dialect.version})")
        lines += [f"    {option.name}={option.takes}" for option in dialect.options]
    return "\n".join(lines)
