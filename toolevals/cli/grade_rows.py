"""Reads rows in the native format, an example and its prediction in one object."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from orjson import OPT_APPEND_NEWLINE, dumps

from toolevals.cli.output import CommandError, Exit, note
from toolevals.grading.reading.examples import ExampleRow, read_example
from toolevals.grading.reading.predictions import Prediction, read_prediction
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.values.documents import MAX_BYTES, load_json, schema
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject, JsonValue
from toolevals.presentation.csv import Cell

_BOM = b"\xef\xbb\xbf"
# After so many remarks of a kind the rest are only counted.
_MOST_SHOWN = 20
# Kinds of remarks.
BAD, UNSCORED = "bad", "unscored"


class Reading(Protocol):
    """The way to read one kind of rows."""

    def read(self, row: object) -> Any:
        """Return a row's verdicts. Raises InvalidDocument where it is not of the form."""

    def remark(self, graded: Any) -> str | None:
        """Return why the row could not be scored, None where it was."""


class Grading(Reading, Protocol):
    """The way to grade and show one kind of rows."""

    columns: tuple[str, ...]

    def document(self, graded: Any) -> JsonObject:
        """Return what is printed as JSON."""

    def line(self, graded: Any) -> bytes:
        """Return that document as a line of JSON."""

    def cells(self, graded: Any) -> list[Cell]:
        """Return what is printed as CSV, one cell a column."""

    def brief(self, graded: Any) -> Any:
        """Return what the table counts."""

    def summary(self, briefs: Iterable[Any]) -> str:
        """Return the table of all rows."""


@contextmanager
def opened(name: str) -> Iterator[IO[bytes]]:
    """Open a file for reading: plain, `.gz`, or `-` for standard input. Raises CommandError."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file: Any = gzip.open(name) if name.endswith(".gz") else Path(name).open("rb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot read {name}: {error.strerror}") from error
    with file:
        yield file


class LineRemarks(NamedTuple):
    """The remarks on some lines in addition to their rows: how many are bad or unscored, and the first of each kind."""

    bad: int = 0
    unscored: int = 0
    remarks: tuple[tuple[str, str], ...] = ()


class Lines:
    """The graded rows of some lines, in order; `count` says how many came so far.

    `first` is the number of the first line. With `numbered`, a row without an id has its line's number.
    """

    def __init__(self, lines: Sequence[bytes], first: int, grading: Reading, *, numbered: bool = False) -> None:
        self._lines = lines
        self._first = first
        self._grading = grading
        self._numbered = numbered
        self.count = 0
        self._counts = {BAD: 0, UNSCORED: 0}
        self._remarks: list[tuple[str, str]] = []

    @property
    def told(self) -> LineRemarks:
        """Return what is to be said of the lines that were read so far."""
        return LineRemarks(self._counts[BAD], self._counts[UNSCORED], tuple(self._remarks))

    def __iter__(self) -> Iterator[Any]:
        for number, line in enumerate(self._lines, self._first):
            text = line.removeprefix(_BOM) if number == 1 else line
            if not text.strip():
                continue
            try:
                graded = self._grading.read(self._row(text, number))
            except InvalidDocument as error:
                self._note(BAD, f"line {number}: {error}")
                continue
            if (remark := self._grading.remark(graded)) is not None:
                self._note(UNSCORED, f"line {number}: unscored: {remark}")
            self.count += 1
            yield graded

    def _row(self, text: bytes, number: int) -> Any:
        row = _row(text.rstrip(b"\r\n"))
        return {"id": str(number), **row} if self._numbered and isinstance(row, dict) and "id" not in row else row

    def _note(self, kind: str, words: str) -> None:
        self._counts[kind] += 1
        if self._counts[kind] <= _MOST_SHOWN:
            self._remarks.append((kind, words))


def json_line(document: JsonObject) -> bytes:
    """Return a document as a line of JSON."""
    try:
        return dumps(document, option=OPT_APPEND_NEWLINE)
    except TypeError:
        # Integers beyond 64 bits.
        return f"{json.dumps(document, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")


def _row(line: bytes) -> Any:
    try:
        # Text may be read quickly; bytes are always read with care.
        return load_json(line.decode() if len(line) <= MAX_BYTES else line)
    except UnicodeDecodeError:
        return load_json(line)


class Remarks:
    """Says on standard error what is told of lines: the first of each kind in words, and how many more there are."""

    def __init__(self) -> None:
        self._counts = {BAD: 0, UNSCORED: 0}

    @property
    def bad(self) -> int:
        """Return how many lines cannot be read."""
        return self._counts[BAD]

    def add(self, line_remarks: LineRemarks) -> None:
        """Say what is told of some lines."""
        shown = dict(self._counts)
        for kind, words in line_remarks.remarks:
            shown[kind] += 1
            if shown[kind] <= _MOST_SHOWN:
                note(f"toolevals: {words}")
        self._counts[BAD] += line_remarks.bad
        self._counts[UNSCORED] += line_remarks.unscored

    def say_the_rest(self) -> None:
        """Say how many remarks were not shown."""
        for kind, count in self._counts.items():
            if count > _MOST_SHOWN:
                note(f"toolevals: {count - _MOST_SHOWN:,} more {kind} lines")


PREDICTION_KEYS = frozenset(schema("prediction")["properties"]) - {"id"}


@dataclass(frozen=True, slots=True)
class NativeRow:
    """One row. `transcript` is None where there is no prediction; `tools` is None where none are named."""

    id: str
    trial: int
    expectation: Expectation
    tools: list[ToolSpec] | str | None
    transcript: Transcript | None
    prediction: JsonObject


def native_row(row: JsonValue) -> NativeRow:
    """Read a row. Raises InvalidDocument."""
    asked, made = parted(row)
    example = read_example(asked)
    expectation = gold_of(example)
    read = prediction_of(row, made, None, is_json=False, tools=example.tools)
    transcript = None if read is None else read.transcript
    return NativeRow(example.external_id, made.get("trial", 0), expectation, example.tools, transcript, made)


def parted(row: object) -> tuple[JsonObject, JsonObject]:
    """Return what a row says of its example and what it says of the prediction. Raises InvalidDocument."""
    if not isinstance(row, dict):
        raise InvalidDocument.at("", "is not an object")
    asked: JsonObject = {}
    made: JsonObject = {}
    for key, value in row.items():
        (made if key in PREDICTION_KEYS else asked)[key] = value
    return asked, made


def gold_of(example: ExampleRow) -> Expectation:
    """Return what an example expects. Raises InvalidDocument where it expects nothing."""
    if example.expectation is None:
        raise InvalidDocument.at("", "has neither expected_tool nor expectation: it cannot be graded")
    return example.expectation


def prediction_of(
    row: JsonObject,
    made: JsonObject,
    message_format: str | None,
    *,
    is_json: bool,
    tools: Sequence[ToolSpec] | str | None = None,
) -> Prediction | None:
    """Read what a row says of its prediction, `made`; None where there is none. Raises InvalidDocument.

    `message_format` is the form of its messages, None for any; `is_json` is as for `read_prediction`.
    `tools` are those of the example, where the row itself holds them.
    """
    if not made.keys() - {"trial"}:
        return None
    offered = None if isinstance(tools, str) else tools
    return read_prediction({"id": row["id"], **made}, message_format=message_format, is_json=is_json, tools=offered)
