"""Write the output of the command, where the stream may be full, closed or unread, and name its exit statuses."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TextIO

from toolevals.server_errors import LateError, ServerError, ServerSettingsError, UnreachableError


class Exit(IntEnum):
    """One meaning each, so that a CI job can tell them apart."""

    OK = 0
    CRASHED = 1
    FAILED = 2
    WARNING = 3
    CONFIGURATION = 4
    DATA = 5
    UNREACHABLE = 6
    TIMED_OUT = 7
    # As a shell says that Ctrl-C ended a command.
    INTERRUPTED = 130


class CommandError(Exception):
    """Ends the command with a sentence on standard error and a status."""

    def __init__(self, exit_status: Exit, message: str) -> None:
        super().__init__(message)
        self.exit_status = exit_status


# What ends the command with a sentence.
FAILURES = (CommandError, ServerError)


def exit_status_of(error: CommandError | ServerError) -> Exit:
    """Return the status with which an error ends the command."""
    match error:
        case CommandError():
            return error.exit_status
        case ServerSettingsError():
            return Exit.CONFIGURATION
        case LateError():
            return Exit.TIMED_OUT
        case UnreachableError():
            return Exit.UNREACHABLE
    return Exit.DATA


# Seconds between two lines of progress, and the characters of its bar.
_BETWEEN = 0.2
_WIDTH = 30


def prepare_streams() -> None:
    """Make writing possible where a stream was closed by the caller, or cannot hold every character."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for the whole command
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str, *, end: str = "\n") -> None:
    """Write to standard output. Where its reader has gone, nothing more is said, and the command goes on to its status.

    Raises CommandError where it cannot be written, as on a full disk.
    """
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise cannot_be_written(error) from error


def note(text: str, *, end: str = "\n") -> None:
    """Write to standard error; where that is not possible, there is no place left to say so."""
    with contextlib.suppress(OSError):
        print(text, end=end, file=sys.stderr, flush=True)


def say_progress(line: str) -> None:
    """Show one line of progress on a terminal, in place of the last one; nothing elsewhere."""
    if sys.stderr.isatty():
        note(f"\r\033[K{line}", end="")


class ProgressBar:
    """Shows on a terminal how much of a file is done, and how many rows that were a second; nothing elsewhere."""

    def __init__(self, what: str, size: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._size = size
        self._clock = clock
        self._rows = 0
        self._started = self._shown = clock()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        # What is said next begins on an empty line.
        say_progress("")

    def add(self, rows: int, done: int) -> None:
        """Count rows; `done` is how many bytes of the file are done."""
        self._rows += rows
        now = self._clock()
        if now - self._shown < _BETWEEN:
            return
        self._shown = now
        pace = f"{self._rows:,} rows, {self._rows / (now - self._started):,.0f} a second"
        if self._size:
            share = min(1.0, done / self._size)
            pace = f"[{'#' * int(share * _WIDTH):<{_WIDTH}}] {share:4.0%}  {pace}"
        say_progress(f"{self._what}: {pace}")


def write_parts(parts: Iterable[bytes], file: Path | None) -> None:
    """Write a file as its parts arrive; one that is not whole is not left behind. None and `-` are standard output.

    Raises CommandError where the file cannot be written.
    """
    if file is None or str(file) == "-":
        sys.stdout.buffer.writelines(parts)
        return
    from toolevals.client.files import write_file

    try:
        write_file(parts, file)
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot write {file}: {error.strerror}") from error


def silence(stream: TextIO) -> None:
    """Let what is still to be written to a stream go nowhere, so that the interpreter's end does not complain of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def cannot_be_written(error: OSError) -> CommandError:
    """Return the error that says why standard output takes nothing."""
    return CommandError(Exit.CONFIGURATION, f"cannot write to standard output: {error.strerror}")


def table(head: tuple[str, ...], rows: Iterable[Sequence[str]]) -> str:
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


def stacked(tables: Iterable[str]) -> str:
    """Return tables with an empty line between, without those that are empty."""
    return "\n".join(filter(None, tables))
