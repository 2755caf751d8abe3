"""A file of JSON Lines, row by row: what cannot be read is named by its line on standard error."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import note
from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument
from toolevals.presentation.csv import Cell

_BOM = b"\xef\xbb\xbf"
# After so many remarks of a kind the rest are only counted.
_MOST_SHOWN = 20


class Reading(Protocol):
    """How one kind of rows is read."""

    def read(self, row: Any) -> Any:
        """Return the row's verdicts. Raises InvalidDocument where it is not of the form."""

    def remark(self, graded: Any) -> str | None:
        """Return why the row could not be scored, None where it was."""


class Grading(Reading, Protocol):
    """How one kind of rows is graded and shown."""

    columns: tuple[str, ...]

    def document(self, graded: Any) -> dict[str, Any]:
        """Return what is printed as JSON."""

    def cells(self, graded: Any) -> list[Cell]:
        """Return what is printed as CSV, one cell a column."""

    def summary(self, rows: Lines) -> str:
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


class Lines:
    """The graded rows of a file, in order; `bad` counts those that cannot be read, `unscored` those without a score.

    With `numbered`, a row without an id has its line's number, from 1.
    """

    def __init__(self, file: IO[bytes], grading: Reading, *, numbered: bool = False) -> None:
        self._file = file
        self._grading = grading
        self._numbered = numbered
        self.bad = 0
        self.unscored = 0

    def __iter__(self) -> Iterator[Any]:
        for number, line in enumerate(self._lines(), start=1):
            text = line.removeprefix(_BOM) if number == 1 else line
            if not text.strip():
                continue
            try:
                row = load_json(text.rstrip(b"\r\n"))
                if self._numbered and isinstance(row, dict) and "id" not in row:
                    row = {"id": str(number), **row}
                graded = self._grading.read(row)
            except InvalidDocument as error:
                self.bad += 1
                _say(self.bad, f"line {number}: {error}")
                continue
            if (remark := self._grading.remark(graded)) is not None:
                self.unscored += 1
                _say(self.unscored, f"line {number}: unscored: {remark}")
            yield graded

    def say_the_rest(self) -> None:
        """Say how many remarks were not shown."""
        for count, kind in ((self.bad, "bad"), (self.unscored, "unscored")):
            if count > _MOST_SHOWN:
                note(f"toolevals: {count - _MOST_SHOWN:,} more {kind} lines")

    def _lines(self) -> Iterator[bytes]:
        try:
            yield from self._file
        except (OSError, EOFError, zlib.error) as error:
            raise CommandError(Exit.DATA, f"the file is damaged: {error}") from error


def _say(count: int, words: str) -> None:
    if count <= _MOST_SHOWN:
        note(f"toolevals: {words}")
