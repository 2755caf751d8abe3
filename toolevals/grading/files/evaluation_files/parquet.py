"""Reads Parquet as rows of JSON, where the package pyarrow is installed; says what to do where it is not."""

from __future__ import annotations

import importlib
import io
from typing import Any, Final

from toolevals.grading.values.problems import InvalidDocument

MAGIC: Final = b"PAR1"
_MOST_BYTES: Final = 400_000_000
_MISSING: Final = (
    "is Parquet, which is read where the package pyarrow is installed: install it where this runs, or write the file as"
    " JSON Lines, such as by pandas.read_parquet(FILE).to_json(OUT, orient='records', lines=True)"
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
        return [_plain(row) for row in file.read().to_pylist()]
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InvalidDocument):
            raise
        raise InvalidDocument.at("", f"cannot be read as Parquet: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
