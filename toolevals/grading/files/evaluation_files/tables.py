"""Reads CSV as tools let one download it: rows as objects by column, and cells of JSON or Python's literals.

Reads Parquet as rows of JSON, where the package pyarrow is installed; says what to do where it is not.
"""

from __future__ import annotations

import csv
import importlib
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from toolevals.grading.reading.parsing.python_calls import UnreadableCallError, calls_in_python
from toolevals.grading.values import ToolCall
from toolevals.grading.values.documents import load_json, text_problem
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping

# Conversations stand in cells.
MAX_CELL = 4_000_000
MAX_COLUMNS = 2_000
# The head of a table; YAML, which is the other text that is read, has a colon before its first comma.
_HEAD = re.compile(rb'"?[^\s",:{}\[\]][^",:{}\[\]\r\n\t]{0,200}"?((,|\t)[^\r\n]*){2,}')
csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))


def is_table(content: bytes) -> bool:
    """Tell whether text begins with the names of three columns or more."""
    return _HEAD.match(content.lstrip()) is not None


def rows_of(content: bytes) -> tuple[list[dict[str, str]], tuple[int, ...]]:
    """Return a table's rows by column, and their lines. Raises InvalidDocument, such as for a name that comes twice."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidDocument.at("", f"is not UTF-8 at byte {error.start}") from None
    delimiter = best_delimiter(text.lstrip().partition("\n")[0], (",", "\t"))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    columns: list[str] = []
    end = 0
    try:
        for cells in reader:
            line, end = end + 1, reader.line_num
            if not columns:
                columns = [name.strip() for name in cells]
                if twice := name_twice(columns):
                    raise InvalidDocument.at("", f"the head names {twice} twice: rename one of the columns")
                if len(columns) > MAX_COLUMNS:
                    raise InvalidDocument.at("", f"has {len(columns):,} columns; the limit is {MAX_COLUMNS:,}")
            elif any(cells):
                rows.append(_row(columns, cells, line))
                lines.append(line)
    except csv.Error as error:
        raise InvalidDocument.at("", f"line {reader.line_num}: is not CSV: {error}") from None
    return rows, tuple(lines)


def name_twice(columns: Sequence[str]) -> str:
    """Return the first name that a head has twice; empty where there is none. Columns may be without a name."""
    seen: set[str] = set()
    for name in filter(None, columns):
        if name in seen:
            return name
        seen.add(name)
    return ""


def best_delimiter(head: str, delimiters: Iterable[str]) -> str:
    """Return the delimiter that cuts a head into most cells, of several the first; what is in quotes is not cut."""

    def cells(delimiter: str) -> int:
        try:
            return len(next(csv.reader([head], delimiter=delimiter), []))
        except csv.Error:
            return 0

    return max(delimiters, key=cells)


def _row(columns: list[str], cells: list[str], line: int) -> dict[str, str]:
    if len(cells) > len(columns):
        message = f"line {line}: has {len(cells)} cells; the head names {len(columns)} columns"
        raise InvalidDocument.at("", message)
    for cell in cells:
        if problem := text_problem(cell):
            raise InvalidDocument.at("", f"line {line}: {problem}")
    row: dict[str, str] = {}
    for name, cell in zip(columns, [*cells, *[""] * (len(columns) - len(cells))], strict=True):
        row.setdefault(name, cell)
    return row


def cell_value(text: object) -> Any:
    """Return the object or list that a cell holds, as JSON or as Python writes it; any other text itself."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return load_json(text)
    except InvalidDocument:
        pass
    try:
        calls = calls_in_python(f"cell(value={text})")
    except UnreadableCallError:
        return text
    made = calls[0] if calls is not None and len(calls) == 1 else None
    return made.arguments["value"] if isinstance(made, ToolCall) else text


def number_in(text: object) -> Any:
    """Return the number that a cell holds; any other value itself."""
    if not isinstance(text, str):
        return text
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def gathered(row: JsonMapping, prefix: str) -> dict[str, Any]:
    """Return the values of the columns that begin so and are not empty, by the rest of their names."""
    found = {name.removeprefix(prefix): cell for name, cell in row.items() if name.startswith(prefix)}
    return {rest: cell_value(cell) for rest, cell in found.items() if rest and cell != ""}


MAGIC: Final = b"PAR1"
_MOST_BYTES: Final = 400_000_000
_MISSING: Final = (
    "is Parquet, which is read where the package pyarrow is installed: install it where this runs"
    " (pip install 'toolevals[data]'), or write the file as JSON Lines,"
    " such as by pandas.read_parquet(FILE).to_json(OUT, orient='records', lines=True)"
)


def parquet_rows(content: bytes) -> list[dict[str, Any]]:
    """Return the rows, without the fields that are null: a column of objects has the fields of all of them.

    Raises InvalidDocument where the package is missing, or the file is broken or unpacks to too much.
    """
    try:
        parquet = importlib.import_module("pyarrow.parquet")
        arrow = importlib.import_module("pyarrow")
    except ImportError:
        raise InvalidDocument.at("", _MISSING) from None
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
        if (size := sum(group.total_byte_size for group in groups)) > _MOST_BYTES:
            raise InvalidDocument.at("", f"unpacks to {size:,} bytes; the limit is {_MOST_BYTES:,}")
        return [_plain(row) for row in file.read(use_threads=False).to_pylist()]
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InvalidDocument):
            raise
        raise InvalidDocument.at("", f"cannot be read as Parquet: {error}") from None


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
