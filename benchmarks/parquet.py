"""Measures a table of cases as Parquet: how fast it is written, next to CSV, the memory for it, and a query in DuckDB.

`--size` is another number of cases.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from uuid import UUID

import duckdb

from benchmarks._measuring import size
from benchmarks.row import Row
from toolevals.presentation.csv import Cell, csv_stream
from toolevals.presentation.parquet import parquet_stream

CASES = size(1_000_000)
TOOLS = 40
COLUMNS: dict[str, type] = {
    "case_id": UUID,
    "transcript_id": UUID,
    "external_id": str,
    "trial": int,
    "expected": str,
    "actual": str,
    "outcome": str,
    "selection": str,
    "cost": float,
    "message": str,
    "expected_calls": str,
    "actual_calls": str,
    "reasons": str,
}
QUERY = "select expected, actual, count(*) from '{}' where expected <> actual group by all order by 3 desc"


def rows() -> Iterator[Row]:
    """Write both files, and ask one for its confusions."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        file = Path(folder) / "cases.parquet"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        parquet = _pace(file, parquet_stream(COLUMNS, _cases()))
        held = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        csv = _pace(Path(folder) / "cases.csv", csv_stream(tuple(COLUMNS), _cases()))
        yield Row("cases written as Parquet", parquet, "rows/s", baseline=csv)
        yield Row("memory for it", held, "MB", target=300, better="lower")
        yield Row("a file of them", file.stat().st_size / 1e6, "MB", better="lower")
        began = perf_counter()
        with duckdb.connect() as base:
            base.execute(QUERY.format(file)).fetchall()
        yield Row("its confusions, in DuckDB", perf_counter() - began, "s", target=1, better="lower")


def _pace(file: Path, parts: Iterable[bytes]) -> float:
    began = process_time()
    with file.open("wb") as stream:
        stream.writelines(parts)
    return CASES / (process_time() - began)


def _cases() -> Iterator[tuple[Cell, ...]]:
    for number in range(CASES):
        expected = f"tool_{number * 7 % TOOLS}"
        actual = expected if number % 9 else f"tool_{(number * 7 + 1) % TOOLS}"
        verdict = "passed" if actual == expected else "failed"
        calls = [f'[{{"tool":"{tool}","arguments":{{"order_id":"A-{number}"}}}}]' for tool in (expected, actual)]
        ids: tuple[Cell, ...] = UUID(int=number), UUID(int=number + CASES), f"ex-{number // 3}", number % 3
        said = f"Where is my order A-{number}? I asked yesterday."
        yield (
            *ids,
            expected,
            actual,
            verdict,
            verdict,
            number % 50 / 1000,
            said,
            *calls,
            f'{{"selection": "{actual}"}}',
        )
