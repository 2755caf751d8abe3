"""`toolevals grade`: verdicts on a file of examples with their predictions, without server or database."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from toolevals.cli.exits import CommandError, Exit
from toolevals.grading.catalog import GRADERS
from toolevals.grading.dialects import bfcl
from toolevals.grading.documents import load_json
from toolevals.grading.engine import compile_case, grade
from toolevals.grading.examples import read_example
from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.grading.metrics.rates import wilson
from toolevals.grading.predictions import read_prediction
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Transcript
from toolevals.grading.verdicts import CaseGrade
from toolevals.presentation.csv import Cell, csv_stream

_PREDICTION_KEYS = (
    "trial", "tool_calls", "messages", "format", "steps", "text", "answer", "usage", "latency_ms", "error",
)  # fmt: skip
_BOM = b"\xef\xbb\xbf"
# After so many bad lines the rest are only counted.
_MOST_SHOWN = 20


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("grade", help="grade a JSONL file of examples with their predictions; no server needed")
    parser.add_argument("file", metavar="FILE", help="JSON Lines, plain or .gz; - is standard input")
    parser.add_argument("--dialect", choices=sorted(_DIALECTS), help="give another tool's verdicts on its own rows")
    parser.add_argument("--format", choices=("jsonl", "csv", "table"), default="jsonl")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Grade every row in order and print its verdicts; bad rows are named on standard error and end in status 5."""
    grading = _DIALECTS[arguments.dialect]() if arguments.dialect else _Native()
    with _opened(arguments.file) as file:
        lines = _Lines(file, grading.read)
        if arguments.format == "jsonl":
            for row in lines:
                sys.stdout.write(f"{json.dumps(grading.document(row), ensure_ascii=False)}\n")
        elif arguments.format == "csv":
            for chunk in csv_stream(grading.columns, (grading.cells(row) for row in lines)):
                sys.stdout.write(chunk.decode())
        else:
            sys.stdout.write(grading.summary(lines))
    if lines.bad > _MOST_SHOWN:
        print(f"toolevals: {lines.bad - _MOST_SHOWN:,} more bad lines", file=sys.stderr)
    return Exit.DATA if lines.bad else Exit.OK


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file: Any = gzip.open(name) if name.endswith(".gz") else Path(name).open("rb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot read {name}: {error.strerror}") from error
    with file:
        yield file


class _Lines:
    """The rows of a file that can be read; `bad` counts the others."""

    def __init__(self, file: IO[bytes], read: Callable[[Any], Any]) -> None:
        self._file = file
        self._read = read
        self.bad = 0

    def __iter__(self) -> Iterator[Any]:
        for number, line in enumerate(self._lines(), start=1):
            text = line.removeprefix(_BOM) if number == 1 else line
            if not text.strip():
                continue
            try:
                yield self._read(load_json(text.rstrip(b"\r\n")))
            except InvalidDocument as error:
                self._note(number, error)

    def _lines(self) -> Iterator[bytes]:
        try:
            yield from self._file
        except (OSError, EOFError, zlib.error) as error:
            raise CommandError(Exit.DATA, f"the file is damaged: {error}") from error

    def _note(self, number: int, error: InvalidDocument) -> None:
        self.bad += 1
        if self.bad <= _MOST_SHOWN:
            print(f"toolevals: line {number}: {error}", file=sys.stderr)


class _Grading(Protocol):
    """How one kind of rows is graded and shown."""

    columns: tuple[str, ...]

    def read(self, row: Any) -> Any: ...

    def document(self, graded: Any) -> dict[str, Any]: ...

    def cells(self, graded: Any) -> list[Cell]: ...

    def summary(self, rows: _Lines) -> str: ...


@dataclass(frozen=True, slots=True)
class _Case:
    """A graded row."""

    id: str
    trial: int
    grade: CaseGrade


class _Native:
    """Rows in the native format: an example and its prediction in one object."""

    columns: tuple[str, ...] = ("id", "trial", *GRADERS, "tag", "mode", "expected", "actual", "reason")

    def read(self, row: Any) -> _Case:
        if not isinstance(row, dict):
            raise InvalidDocument.at("", "is not an object")
        example = read_example({key: value for key, value in row.items() if key not in _PREDICTION_KEYS})
        if example.expectation is None:
            raise InvalidDocument.at("", "has neither expected_tool nor expectation: nothing to grade by")
        if isinstance(example.tools, str):
            raise InvalidDocument.at("/tools", "names a registry version: without a server the row must list the tools")
        made = {key: row[key] for key in _PREDICTION_KEYS if key in row}
        transcript: Transcript | None = None
        if made.keys() - {"trial"}:
            transcript = read_prediction({"id": row["id"], **made}).transcript
        compiled = compile_case(example.expectation, example.tools or ())
        return _Case(example.external_id, made.get("trial", 0), grade(compiled, transcript))

    def document(self, graded: _Case) -> dict[str, Any]:
        return {"id": graded.id, "trial": graded.trial, **graded.grade.to_document()}

    def cells(self, graded: _Case) -> list[Cell]:
        verdicts = [graded.grade.verdicts[name].status for name in GRADERS]
        result = graded.grade
        place = [result.tag, result.mode, result.expected, result.actual, result.outcome.reason]
        return [graded.id, graded.trial, *verdicts, *place]

    def summary(self, rows: _Lines) -> str:
        statuses: dict[str, Counter[str]] = {name: Counter() for name in GRADERS}
        modes: Counter[str] = Counter()
        cells: Counter[tuple[str, str]] = Counter()
        for case in rows:
            for name in GRADERS:
                statuses[name][case.grade.verdicts[name].status] += 1
            modes[case.grade.mode] += 1
            cells[case.grade.expected, case.grade.actual] += 1
        del modes[""], cells["", ""]
        tables = [
            _table(("", "passed", "failed", "unscored", "errored", "rate", "95 %"), map(_rates, statuses.items())),
            _table(("what went wrong", "cases"), ((mode, str(count)) for mode, count in modes.most_common())),
            _table(("tool", "expected", "called", "precision", "recall", "F1"), _tools(cells)),
        ]
        return "\n".join(table for table in tables if table)


class _Bfcl:
    """Rows of the leaderboard's checker."""

    columns: tuple[str, ...] = ("id", "valid", "error_type")

    def read(self, row: Any) -> bfcl.DialectVerdict:
        return bfcl.check_row(row)

    def document(self, graded: bfcl.DialectVerdict) -> dict[str, Any]:
        return {"id": graded.id, "valid": graded.valid, "error_type": graded.error_type}

    def cells(self, graded: bfcl.DialectVerdict) -> list[Cell]:
        return [graded.id, graded.valid, graded.error_type]

    def summary(self, rows: _Lines) -> str:
        errors = Counter(row.error_type or "" for row in rows)
        passed, total = errors.pop("", 0), errors.total()
        rate = _rates(("valid", Counter(passed=passed, failed=errors.total())))
        head = _table(("", "passed", "failed", "unscored", "errored", "rate", "95 %"), [rate]) if total else ""
        return "\n".join(
            filter(None, (head, _table(("error type", "rows"), ((name, str(n)) for name, n in errors.most_common()))))
        )


_DIALECTS: dict[str, Callable[[], _Grading]] = {"bfcl": _Bfcl}


def _rates(counted: tuple[str, Counter[str]]) -> tuple[str, ...]:
    name, counts = counted
    passed, scored = counts["passed"], counts["passed"] + counts["failed"]
    interval = wilson(passed, scored)
    shown = (f"{passed / scored:.3f}", f"{interval.low:.3f} to {interval.high:.3f}") if scored else ("", "")
    return name, *(str(counts[status]) for status in ("passed", "failed", "unscored", "errored")), *shown


def _tools(cells: Counter[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    for each in ConfusionMatrix(cells).per_class:
        shares = ("" if share is None else f"{share:.3f}" for share in (each.precision, each.recall, each.f1))
        yield each.name, str(each.support), str(each.predicted), *shares


def _table(head: tuple[str, ...], rows: Any) -> str:
    """Return text columns, the first to the left and the others to the right; nothing where there are no rows."""
    lines = [head, *rows]
    if len(lines) == 1:
        return ""
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    shown = [
        "  ".join(cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in enumerate(each))
        for each in (zip(line, widths, strict=True) for line in lines)
    ]
    return "".join(f"{line.rstrip()}\n" for line in shown)
