"""Runs `toolevals grade`: grades a file of examples with their predictions, without server or database.

Files of other evaluation tools become rows of our own form first.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from toolevals.cli.blocks import add_jobs_option, answered, size_of
from toolevals.cli.grade_cases import NativeGrading
from toolevals.cli.grade_dialects import dialect_grading
from toolevals.cli.grade_rows import Grading, LineRemarks, Lines, Remarks, opened
from toolevals.cli.inputs import say_readings
from toolevals.cli.output import CommandError, Exit, ProgressBar, note, write_parts
from toolevals.cli.verbs import Verbs
from toolevals.grading.dialects.catalog import DIALECTS
from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES
from toolevals.grading.files.evaluation_files.reading import EvaluationFile, evaluation_file, graded_rows
from toolevals.grading.reading.parsing import MESSAGE_FORMATS
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.reading.specs import counted
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonValue
from toolevals.presentation.csv import csv_stream

# A row that has one of these is of our own form, or of the leaderboard's.
_OWN = frozenset({"expected_tool", "expectation", "possible_answer", "prediction", "tool_calls", "question_row"})


@contextmanager
def rows_opened(name: str, agent: str) -> Iterator[tuple[IO[bytes], int]]:
    """Open a file of rows and return how many entries of it cannot be graded; a file of another tool becomes rows.

    Standard input is read as rows. Raises CommandError where the file holds several agents and none is chosen.
    """
    found = _found(name) if name != "-" else None
    if found is None:
        with opened(name) as file:
            yield file, 0
        return
    note(f"toolevals: {found.detected.sentence}")
    with tempfile.NamedTemporaryFile(prefix="toolevals-") as rows:
        bad = _write(found, agent, rows)
        rows.seek(0)
        yield rows, bad


def _found(name: str) -> EvaluationFile | None:
    path = Path(name)
    try:
        with opened(name) as file:
            head = file.readline(MAX_DOCUMENT_BYTES + 1)
        row: JsonValue = load_json(head)
    except InvalidDocument:
        row = None
    except (OSError, EOFError):
        return None
    if isinstance(row, dict) and (_OWN & row.keys() or ("id" in row and "input" not in row)):
        return None
    try:
        return evaluation_file(path.read_bytes())
    except InvalidDocument:
        # The lines have their own messages.
        return None


def _write(evaluation_file: EvaluationFile, agent: str, rows: Any) -> int:
    bad = 0
    losses: list[Problem] = []
    try:
        for place, row in graded_rows(evaluation_file, agent):
            if isinstance(row, InvalidDocument):
                bad += 1
                note(f"toolevals: {f'line {place.line}' if place.line else 'entry ' + str(place.number)}: {row}")
            else:
                rows.write(orjson.dumps(row) + b"\n")
        for _, trial, lost in evaluation_file.trials(agent):
            if not isinstance(trial, InvalidDocument):
                losses += lost
    except InvalidDocument as error:
        raise CommandError(Exit.CONFIGURATION, f"{error} (--agent NAME)") from error
    for loss in counted(losses):
        note(f"toolevals: {loss.count:,} × {loss.key} {loss.message} (first at {loss.first})")
    return bad


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
    parser.add_argument(
        "--dialect", choices=sorted(DIALECTS), help="print another evaluator's verdicts instead of toolevals' own"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="an option of the dialect; may be repeated"
    )
    parser.add_argument("--agent", default="", metavar="NAME", help="the agent to grade, if the file contains several")
    parser.add_argument("--format", choices=tuple(_CONTENTS), default="jsonl")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="by default standard output")
    add_jobs_option(parser)
    parser.add_argument(
        "--messages",
        choices=MESSAGE_FORMATS,
        metavar="NAME",
        help=f"the format of `messages` in rows that name none; else it is found: {', '.join(MESSAGE_FORMATS)}",
    )
    parser.add_argument(
        "--assert-formats",
        action="store_true",
        help="a text that is not in the `format` of its schema, such as a date, breaks the schema",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Grade every row in order and print its verdicts; bad rows are named on standard error and end in status 5."""
    options = GradeOptions(
        arguments.dialect, tuple(arguments.option), arguments.messages, arguments.format, arguments.assert_formats
    )
    # Wrong options are told before anything is read.
    grading = options.grading()
    remarks, readings = Remarks(), Readings()
    with rows_opened(arguments.file, arguments.agent) as (file, unread):
        answers = _answers(file, options, arguments.jobs, remarks, readings)
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
class GradeOptions:
    """The settings of grading and output that every grading process gets."""

    dialect: str | None
    options: tuple[str, ...]
    messages: str | None
    format: str
    assert_formats: bool

    def grading(self) -> Grading:
        """Return the grading. Raises CommandError where the options are wrong."""
        if self.dialect:
            if self.messages:
                raise CommandError(Exit.CONFIGURATION, "--messages cannot be combined with --dialect")
            if self.assert_formats:
                raise CommandError(Exit.CONFIGURATION, "--assert-formats is for our own verdicts: leave out --dialect")
            return dialect_grading(self.dialect, self.options)
        if self.options:
            raise CommandError(Exit.CONFIGURATION, "--option is for a dialect: name one with --dialect")
        return NativeGrading(self.messages, is_json=True, assert_formats=self.assert_formats)

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

    content: JsonValue
    rows: int
    told: LineRemarks
    readings: Readings


def _answers(file: IO[bytes], options: GradeOptions, jobs: int, remarks: Remarks, readings: Readings) -> Iterator[Any]:
    """Yield what is printed or counted of each block, and say what is to be said of it."""
    with ProgressBar("grading", size_of(file)) as bar:
        for done in answered(file, options.work, jobs):
            graded = done.answer
            bar.add(graded.rows, done.bytes)
            remarks.add(graded.told)
            readings.join(graded.readings)
            yield graded.content


def _json(grading: Grading, rows: Iterable[object]) -> bytes:
    return b"".join([grading.line(row) for row in rows])


def _csv(grading: Grading, rows: Iterable[object]) -> bytes:
    return b"".join(csv_stream(grading.columns, (grading.cells(row) for row in rows)))


def _csv_rows(grading: Grading, rows: Iterable[object]) -> bytes:
    return _csv(grading, rows).removeprefix(_csv(grading, ()))


def _briefs(grading: Grading, rows: Iterable[object]) -> list[Any]:
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
