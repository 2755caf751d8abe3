"""Opens the files that the command reads: `-` is standard input, where a file is asked for."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolevals.cli.output import CommandError, Exit, note
from toolevals.grading.reading.reading_report import Readings
from toolevals.json_types import JsonMapping

# So many kinds of losses, and so many warnings, are printed.
_MOST = 20


def say_what_was_read(report: JsonMapping) -> None:
    """Say on standard error what a job's report says of the file that it read."""
    say_readings(Readings.of_report(report))


def say_readings(readings: Readings) -> None:
    """Say on standard error the formats with their reasons, what was left out, and the warnings: the first by line."""
    lines = list(readings.words())
    for line in lines[:_MOST]:
        note(f"toolevals: {line}")
    if len(lines) > _MOST:
        note(f"toolevals: {len(lines) - _MOST:,} more kinds")
    for each in readings.warnings[:_MOST]:
        where = f" {each['pointer']}" if each["pointer"] else ""
        note(f"toolevals: line {each['line']}{where}: {each['message']}")
    if (rest := readings.warning_count - _MOST) > 0:
        note(f"toolevals: {rest:,} more warnings")


STANDARD_INPUT = Path("-")


@contextmanager
def input_file(path: Path) -> Iterator[Path]:
    """Give a file that can be read as often as needed: for standard input a copy, which is deleted at the end."""
    if path != STANDARD_INPUT:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "standard-input"
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield copy


def read_input(path: Path) -> bytes:
    """Return what a file holds. Raises CommandError where it cannot be read."""
    try:
        return sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    except OSError as error:
        raise CommandError(Exit.DATA, f"cannot read {path}: {error.strerror}") from error


def read_input_text(path: Path) -> str:
    """Return the text that a file holds. Raises CommandError where it cannot be read, or is not text in UTF-8."""
    try:
        return read_input(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(Exit.DATA, f"{path}: is not text in UTF-8: {error.reason} at byte {error.start}") from error


def once_at_most(**named: object) -> None:
    """Raise CommandError where more than one option reads standard input."""
    reading = [name for name, value in named.items() if value is not None and str(value) == "-"]
    if len(reading) > 1:
        words = f"{' and '.join(reading)} both read standard input: give a file for one of them"
        raise CommandError(Exit.CONFIGURATION, words)
