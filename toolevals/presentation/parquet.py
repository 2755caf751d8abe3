"""Writes Parquet as a stream, a group of rows at a time, where the package pyarrow is installed."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final
from uuid import UUID

from toolevals.presentation.csv import Cell

# A group is written when it has so many rows, or so many characters of text: memory holds one group.
_ROWS: Final = 20_000
_CHARACTERS: Final = 8_000_000
_AT_ONCE: Final = 500
_TYPES: Final[Mapping[type, tuple[str, ...]]] = {
    str: ("string",),
    UUID: ("string",),
    int: ("int64",),
    float: ("float64",),
    bool: ("bool_",),
    datetime: ("timestamp", "us", "UTC"),
}


def missing_package() -> str:
    """Return how to install what Parquet needs; empty where it is there."""
    if find_spec("pyarrow") is not None:
        return ""
    return "Parquet needs the package pyarrow: pip install 'toolevals[data]' where the server and its workers run"


def parquet_stream(columns: Mapping[str, type], rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield the file in parts. Every row has a cell for each column; ids are written as text, times in UTC."""
    arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    schema = arrow.schema([(name, _arrow_type(arrow, kind)) for name, kind in columns.items()])
    sink, kinds = _Parts(), list(columns.values())
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in _groups(rows):
            cells = [_cells(kind, column) for kind, column in zip(kinds, zip(*group, strict=True), strict=True)]
            arrays = [arrow.array(column, field.type) for column, field in zip(cells, schema, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


def _arrow_type(arrow: Any, kind: type) -> Any:
    name, *options = _TYPES[kind]
    return getattr(arrow, name)(*options)


def _groups(rows: Iterable[Sequence[Cell]]) -> Iterator[list[Sequence[Cell]]]:
    group: list[Sequence[Cell]] = []
    characters, left = 0, iter(rows)
    while some := list(islice(left, _AT_ONCE)):
        group += some
        characters += sum(len(cell) for row in some for cell in row if isinstance(cell, str))
        if len(group) >= _ROWS or characters >= _CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _cells(kind: type, column: Sequence[Cell]) -> list[Cell]:
    """Return what a column holds. Where there is no number, no time and no id, there is nothing."""
    if kind is str:
        return list(column)
    if kind is UUID:
        return [str(cell) if cell else None for cell in column]
    return [None if cell == "" else cell for cell in column]


class _Parts(io.RawIOBase):
    """Keeps what is written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Any, /) -> int:
        self._parts.append(bytes(part))
        return len(self._parts[-1])

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
