"""Parquet as a stream: its types, what is empty, groups of bounded size, and what is said without pyarrow."""

from __future__ import annotations

import io
import sys
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import duckdb
import pandas
import pyarrow.parquet as files

from toolevals.presentation import parquet
from toolevals.presentation.parquet import missing_package, parquet_stream

COLUMNS: dict[str, type] = {"id": UUID, "name": str, "trial": int, "cost": float, "flagged": bool, "at": datetime}
AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
ROWS: list[tuple[Any, ...]] = [
    (UUID(int=1), "=1+1", 0, 0.5, True, AT),
    (None, "", None, None, None, None),
    ("", None, "", "", "", ""),
]


def read(parts: Any) -> Any:
    return files.ParquetFile(io.BytesIO(b"".join(parts)))


def test_each_type_is_written_as_itself_and_nothing_as_null():
    table = read(parquet_stream(COLUMNS, ROWS)).read(use_threads=False)
    types = [str(field.type) for field in table.schema]
    assert types == ["string", "string", "int64", "double", "bool", "timestamp[us, tz=UTC]"]
    first, *empty = table.to_pylist()
    assert first == {"id": str(UUID(int=1)), "name": "=1+1", "trial": 0, "cost": 0.5, "flagged": True, "at": AT}
    assert [row["name"] for row in empty] == ["", None]
    assert {row[name] for row in empty for name in COLUMNS if name != "name"} == {None}


def test_a_file_without_rows_has_its_columns():
    table = read(parquet_stream(COLUMNS, [])).read(use_threads=False)
    assert (table.num_rows, table.column_names) == (0, list(COLUMNS))


def test_no_more_than_a_group_is_held(monkeypatch):
    """Rows that are read before the first part is taken are one group, by their number or by their text."""
    monkeypatch.setattr(parquet, "_ROWS", 1_000)
    taken = 0

    def rows(text: str, count: int) -> Any:
        nonlocal taken
        for _ in range(count):
            taken += 1
            yield (text,)

    stream = parquet_stream({"text": str}, rows("a", 5_000))
    head = next(stream)
    assert taken == 1_000
    assert read([head, *stream]).metadata.num_row_groups == 5
    monkeypatch.setattr(parquet, "_ROWS", 10**9)
    taken = 0
    next(parquet_stream({"text": str}, rows("a" * 20_000, 5_000)))
    assert taken == 500


def test_duckdb_and_pandas_read_it(tmp_path):
    file = tmp_path / "rows.parquet"
    file.write_bytes(b"".join(parquet_stream(COLUMNS, ROWS)))
    with duckdb.connect() as base:
        found = base.execute(f"select name, trial + 1, cost from '{file}' where flagged").fetchall()
    assert found == [("=1+1", 1, 0.5)]
    frame = pandas.read_parquet(file, use_threads=False)
    assert list(frame.columns) == list(COLUMNS)
    assert frame["at"][0] == pandas.Timestamp(AT)


def test_without_pyarrow_it_is_said_how_to_install_it(monkeypatch):
    assert missing_package() == ""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'toolevals[data]'" in missing_package()
