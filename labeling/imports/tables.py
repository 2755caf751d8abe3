"""Read CSV files: their columns, their first rows, where they can be cut, and the records of a part.

A record may span lines, so only reading tells where one ends: cutting reads the file once with the same reader that
reads the parts, and they agree on every stray quote.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, NamedTuple

from labeling.imports.gzip_files import unpacked
from labeling.imports.parts import BOM, MAX_LINE_BYTES, PART_BYTES, rest_of_line
from labeling.imports.readers.columns import argument_names, detected_targets
from toolevals.grading.files.evaluation_files.decoding import require_utf8
from toolevals.grading.files.evaluation_files.tables import best_delimiter, name_twice
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.presentation.csv import is_guarded

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
MOST_COLUMNS = 400
# A field of the reader is at most so long; the limit is the process's.
csv.field_size_limit(MAX_LINE_BYTES)


@dataclass(frozen=True, slots=True)
class Preview:
    """The look of a table: its delimiter, the names of its columns, and its first rows."""

    delimiter: str
    columns: list[str]
    rows: list[list[str]]

    def count_rows(self, file: IO[bytes]) -> int:
        """Return how many rows the whole file has below its head; empty lines are none."""
        return sum(bool(cells) for _, cells in islice(Records(file, 0, None, self.delimiter), 1, None))


def preview(file: IO[bytes], count: int = 5) -> Preview:
    """Return the head of a CSV file. Raises InvalidDocument where it has none that can be read."""
    delimiter = delimiter_of(file)
    columns = columns_of(file, delimiter)
    rows = [cells for _, cells in islice(Records(file, 0, None, delimiter), 1, count + 1) if isinstance(cells, list)]
    return Preview(delimiter, columns, [[*row, *[""] * (len(columns) - len(row))][: len(columns)] for row in rows])


def delimiter_of(file: IO[bytes]) -> str:
    """Return the delimiter of a table that says none: the one that cuts its head into most cells."""
    file.seek(0)
    head = file.readline(MAX_LINE_BYTES).removeprefix(BOM).decode(errors="replace")
    return best_delimiter(head, DELIMITERS)


def columns_of(file: IO[bytes], delimiter: str) -> list[str]:
    """Return the names in a table's first record, each different from the others. Raises InvalidDocument."""
    file.seek(0)
    require_utf8(file.read(4))
    head = next(iter(Records(file, 0, None, delimiter)), None)
    if head is None:
        raise InvalidDocument.at("", "is empty: the first line must name the columns")
    if isinstance(head[1], Problem):
        raise InvalidDocument([head[1]])
    names: list[str] = []
    for number, cell in enumerate(head[1], 1):
        if problem := _problem(cell, ""):
            raise InvalidDocument([problem])
        names.append(cell.strip() or f"column {number}")
    if twice := name_twice(names):
        raise InvalidDocument.at("", f"the head names {twice} twice: rename one of the columns")
    if len(names) > MOST_COLUMNS:
        raise InvalidDocument.at("", f"has {len(names):,} columns; the limit is {MOST_COLUMNS}")
    return names


def table_parts(file: IO[bytes], delimiter: str) -> list[tuple[int, int]]:
    """Return byte ranges that each hold whole records; the head is in the first."""
    records = Records(file, 0, None, delimiter)
    ranges, start = [], 0
    for _ in records:
        if records.offset - start >= PART_BYTES:
            ranges.append((start, records.offset))
            start = records.offset
    if records.offset > start or not ranges:
        ranges.append((start, records.offset))
    return ranges


def rows_in(
    records: Records, columns: Sequence[str], *, has_head: bool
) -> Iterator[tuple[int, int, dict[str, str] | Problem]]:
    """Yield line, offset and cells by column of each record that is not empty; without the head, if it is there.

    In place of the cells stands what is wrong with a record that cannot be read.
    """
    for (line, offset), cells in islice(records, int(has_head), None):
        if isinstance(cells, Problem):
            yield line, offset, cells
        elif cells and any(cells):
            yield line, offset, _named(columns, cells)


def _named(columns: Sequence[str], cells: list[str]) -> dict[str, str] | Problem:
    if len(cells) > len(columns) and any(cells[len(columns) :]):
        return Problem("", f"has {len(cells)} cells; the head names {len(columns)} columns")
    cells += [""] * (len(columns) - len(cells))
    for column, cell in zip(columns, cells, strict=False):
        if problem := _problem(cell, pointer_to([column])):
            return problem
    return {column: _unguarded(cell) for column, cell in zip(columns, cells, strict=False)}


def _problem(cell: str, pointer: str) -> Problem | None:
    if cell.isascii() and "\0" not in cell:
        return None
    if "\0" in cell:
        return Problem(pointer, "holds a NUL character")
    try:
        cell.encode()
    except UnicodeEncodeError:
        return Problem(pointer, "is not UTF-8")
    return None


def _unguarded(cell: str) -> str:
    """Return a cell without the apostrophe that keeps a spreadsheet from running it as a formula."""
    return cell[1:] if cell[:1] == "'" and is_guarded(cell[1:]) else cell


class Records:
    """The records of a range of a file, each with its line there (from 1) and its offset.

    `line` and `offset` say how far the reading is. A line too long is no reason to stop: it is one bad record.
    """

    def __init__(self, file: IO[bytes], start: int, end: int | None, delimiter: str) -> None:
        self.file, self.end, self.offset, self.line = file, end, start, 0
        self.reader = csv.reader(_Lines(self), delimiter=delimiter, strict=True)
        file.seek(start)

    def __iter__(self) -> Iterator[tuple[tuple[int, int], list[str] | Problem]]:
        while self.end is None or self.offset < self.end:
            place = (self.line + 1, self.offset)
            try:
                cells = next(self.reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield place, Problem("", f"is not CSV: {error}")
            else:
                yield place, cells


class _Lines:
    """The lines of a file as the CSV reader takes them; bytes that are no UTF-8 stay and are found in their cell."""

    def __init__(self, records: Records) -> None:
        self.records = records

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        records, first = self.records, self.records.offset == 0
        line = records.file.readline(MAX_LINE_BYTES + 1)
        if not line:
            raise StopIteration
        records.line += 1
        records.offset += len(line)
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            records.offset += rest_of_line(records.file)
            raise csv.Error(f"the line is longer than {MAX_LINE_BYTES:,} bytes")
        return (line.removeprefix(BOM) if first else line).decode(errors="surrogateescape")


class NamedColumns(NamedTuple):
    """The delimiter of a table, and what each of its columns holds; "" where its name tells nothing."""

    delimiter: str
    targets: dict[str, str]

    @property
    def options(self) -> dict[str, Any]:
        """The options of the import."""
        return {"delimiter": self.delimiter, "columns": self.targets}

    @property
    def sentence(self) -> str:
        """Return what to tell the person whose file it is: every column, those that are not used too."""
        used = [
            column if column == holds else f"{column} as {holds}" for column, holds in self.targets.items() if holds
        ]
        unused = [column for column, holds in self.targets.items() if not holds]
        return f"columns by their names: {', '.join(used) or 'none'}" + (
            f"; not used: {', '.join(unused)}" if unused else ""
        )


def columns_by_name(file: IO[bytes], tools: Iterable[ToolSpec]) -> NamedColumns:
    """Return what a table's columns seem to hold, with the arguments of `tools`, which its examples are offered.

    Raises InvalidDocument where the table has no head that can be read.
    """
    with unpacked(file) as plain:
        table = preview(plain)
    return NamedColumns(table.delimiter, detected_targets(table.columns, argument_names(tools)))
