"""Cut a file into parts that can be read on their own, and hold what one part has and how it is to be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO

from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import Problem
from toolevals.json_types import JsonMapping, JsonObject

PART_BYTES = 2_000_000
MAX_LINE_BYTES = 4_000_000
BOM = b"\xef\xbb\xbf"


# So many problems of a part are kept; all are counted.
KEPT = 1000


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


@dataclass(slots=True)
class Part:
    """The content of one part of a file: good rows with line (from 1) and byte offset, and problems of the others."""

    rows: list[tuple[int, int, ExampleRow]] = field(default_factory=list)
    lines: int = 0
    problems: list[JsonObject] = field(default_factory=list)
    remarks: list[JsonObject] = field(default_factory=list)
    errors: int = 0
    warnings: int = 0
    # Where an entry stands in a document of many, by its number; empty for files of lines.
    places: dict[int, str] = field(default_factory=dict)

    def refuse(self, line: int, problems: Iterable[Problem]) -> None:
        """Note what is wrong with a line: the file will not be published."""
        for problem in problems:
            self.errors += 1
            _list(self.problems, line, problem.below(self.places.get(line, "")))

    def remark(self, line: int, problems: Iterable[Problem]) -> None:
        """Note what is odd about a line but does not stand in its way."""
        for problem in problems:
            self.warnings += 1
            _list(self.remarks, line, problem.below(self.places.get(line, "")))


def _list(listed: list[JsonObject], line: int, problem: Problem) -> None:
    if len(listed) < KEPT:
        listed.append({"line": line, "pointer": problem.pointer, "message": problem.message})


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of an import, as its job keeps them, and the dataset's default tools by name (None: it has none)."""

    options: JsonMapping = field(default_factory=dict)
    tools: Mapping[str, ToolSpec] | None = None
