"""Write the output of the command, where the stream may be full, closed or without a reader."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from toolevals.cli.exits import CommandError, Exit


def streams_prepare() -> None:
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


def write_parts(parts: Iterable[bytes], file: Path | None) -> None:
    """Write a file as its parts arrive; one that is not whole is not left behind. None and `-` are standard output.

    Raises CommandError where the file cannot be written.
    """
    if file is None or str(file) == "-":
        sys.stdout.buffer.writelines(parts)
        return
    partial = file.with_name(f"{file.name}.part")
    try:
        with partial.open("wb") as stream:
            stream.writelines(parts)
        partial.replace(file)
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot write {file}: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def silence(stream: TextIO) -> None:
    """Let what is still to be written to a stream go nowhere, so that the interpreter's end does not complain of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def cannot_be_written(error: OSError) -> CommandError:
    """Return the error that says why standard output takes nothing."""
    return CommandError(Exit.CONFIGURATION, f"cannot write to standard output: {error.strerror}")
