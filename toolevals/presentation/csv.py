"""CSV as a stream: UTF-8, commas, CRLF (RFC 4180), and no cell that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from uuid import UUID

Cell = str | int | float | bool | UUID | datetime | None

# Characters that make a spreadsheet read the cell as a formula, full-width forms among them.
FORMULA_STARTS = frozenset("=+-@\t\r\n＝＋－＠")
ROWS_A_CHUNK = 500
# What the csv module writes as `safe_cell` does.
_READY = frozenset({int, float, type(None), UUID})


def safe_cell(cell: Cell) -> str | int | float:
    """Return what is written. Numbers stay numbers; text that looks like a formula gets an apostrophe in front."""
    if isinstance(cell, str):
        return f"'{cell}" if cell[:1] in FORMULA_STARTS else cell
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        return cell
    return cell.isoformat() if isinstance(cell, datetime) else str(cell)


def csv_stream(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield the head, then the rows, some hundred at a time: memory does not grow with their number.

    Every row has a cell for each column.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([safe_cell(column) for column in columns])
    left = iter(rows)
    while some := list(islice(left, ROWS_A_CHUNK)):
        writer.writerows(_safe_rows(some))
        yield _taken(buffer)
    if buffer.tell():
        yield _taken(buffer)


def _safe_rows(rows: Sequence[Sequence[Cell]]) -> Iterable[Sequence[Cell]]:
    """Return the rows with every cell as `safe_cell` has it: looked at column by column, where most need no change."""
    columns: list[Sequence[Cell]] = list(zip(*rows, strict=True))
    changed = False
    for place, column in enumerate(columns):
        if not _is_ready(column):
            columns[place] = [safe_cell(cell) for cell in column]
            changed = True
    return zip(*columns, strict=True) if changed else rows


def _is_ready(column: Sequence[Cell]) -> bool:
    others = set(map(type, column)) - _READY
    if others != {str}:
        return not others
    # In a set what occurs again is looked at once.
    return FORMULA_STARTS.isdisjoint({cell[:1] for cell in set(column) if isinstance(cell, str)})


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()
