"""Cut a file of lines into parts that can be read on their own, in any order, by several workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

PART_BYTES = 2_000_000
MAX_LINE_BYTES = 4_000_000
BOM = b"\xef\xbb\xbf"


def parts_of(size: int) -> list[tuple[int, int]]:
    """Return the byte ranges that a file of `size` bytes is read in; an empty file has one empty part."""
    starts = range(0, max(size, 1), PART_BYTES)
    return [(start, min(start + PART_BYTES, size)) for start in starts]


def lines_in(file: IO[bytes], start: int, end: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines that begin within a byte range, with their offsets; None for one that is too long to read.

    Every line of a file begins in exactly one part, so that reading all parts reads each line once.
    """
    offset = start
    if start:
        # The line that the byte before belongs to is the part's before.
        file.seek(start - 1)
        offset = start - 1 + rest_of_line(file)
    else:
        file.seek(0)
    while offset < end:
        line = file.readline(MAX_LINE_BYTES + 1)
        if not line:
            return
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            yield offset, None
            offset += len(line) + rest_of_line(file)
            continue
        yield offset, line.removeprefix(BOM) if offset == 0 else line
        offset += len(line)


def rest_of_line(file: IO[bytes]) -> int:
    """Read to the end of the current line; return how many bytes that were."""
    count = 0
    while some := file.readline(MAX_LINE_BYTES):
        count += len(some)
        if some.endswith(b"\n"):
            break
    return count
