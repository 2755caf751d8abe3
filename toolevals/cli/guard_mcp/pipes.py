"""Reads lines of pipes, each with a limit on its length, and writes whole lines to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from toolevals.cli.guard_mcp.proxy import LONGEST_MESSAGE

_PART: Final = 256 * 1024


class TooLong:
    """A line that was dropped for its length."""


def lines_of(descriptor: int, longest: int = LONGEST_MESSAGE) -> Iterator[bytes | TooLong]:
    """Yield the lines of a pipe that hold something, until its end. One that is too long is not kept."""
    parts: list[bytes] = []
    length = 0
    while part := _read(descriptor):
        *ended, rest = part.split(b"\n")
        for each in ended:
            length += len(each)
            line = b"".join([*parts, each]) if length <= longest else TooLong()
            parts, length = [], 0
            if isinstance(line, TooLong) or line.strip():
                yield line
        length += len(rest)
        if length > longest:
            parts = []
        elif rest:
            parts.append(rest)
    if length > longest:
        yield TooLong()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _PART)
    except OSError:
        # The other side has gone, or this one was closed.
        return b""


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it. Raises OSError where no one reads it any more."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
