"""The schema of Parquet files is what the documents say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as files
import pytest

from labeling.exports.table import EXAMPLE_COLUMNS, LABEL_COLUMNS
from reports.downloads.long_tables import TABLES
from toolevals.presentation.parquet import parquet_stream

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "parquet.md").read_text("utf-8")
SCHEMAS: Mapping[str, Mapping[str, type]] = {
    "parquet": EXAMPLE_COLUMNS,
    "labels_parquet": LABEL_COLUMNS,
    **{name: table.columns for name, table in TABLES.items()},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_column_is_described_with_its_type(name, tmp_path):
    section = DOCUMENT.partition(f"\n### `{name}` of ")[2].partition("\n### ")[0]
    described = {
        column: kind
        for kind, columns in re.findall(r"^\| ([a-z][^|]*) \| (`.*) \|$", section, re.MULTILINE)
        for column in re.findall(r"`(\w+)`", columns)
    }
    file = tmp_path / "empty.parquet"
    file.write_bytes(b"".join(parquet_stream(SCHEMAS[name], [])))
    assert {field.name: str(field.type) for field in files.read_schema(file)} == described
