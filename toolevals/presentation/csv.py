"""CSV as a stream: UTF-8, commas, CRLF (RFC 4180), and no cell that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
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
    """Yield the head, then the rows, some hundred at a time: memory does not grow with their number."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([safe_cell(column) for column in columns])
    for number, row in enumerate(rows, start=1):
        writer.writerow(
            [
                cell
                if (kind := type(cell)) in _READY or (kind is str and cell[:1] not in FORMULA_STARTS)  # type: ignore[index]
                else safe_cell(cell)
                for cell in row
            ]
        )
        if number % ROWS_A_CHUNK == 0:
            yield _taken(buffer)
    if buffer.tell():
        yield _taken(buffer)


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()
