"""Write rows of any table as lines of JSON into a ZIP, without what is secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.conf import settings
from django.db import models

from toolevals.grading.values.canonical import exact
from toolevals.workspace.fields import DocumentField

TOLD_EVERY = 1000
_PLAIN = (str, int, float, bool, type(None))


@contextmanager
def archive(file: IO[bytes]) -> Iterator[ZipFile]:
    """Give a ZIP in a file."""
    with ZipFile(file, "w", ZIP_DEFLATED) as opened:
        yield opened


def rows_write(
    opened: ZipFile, rows: models.QuerySet[Any], progress: Callable[[int], None] | None = None, before: int = 0
) -> int:
    """Write rows as `<table>.jsonl`, one a line under the names of its columns; return how many. None leaves no file.

    `progress` is told now and then how many are written, with those `before`. References are the ids of other rows.
    """
    columns = [each for each in rows.model._meta.concrete_fields if _name(each) not in settings.SECRET_COLUMNS]
    found = rows.order_by("pk").values_list(*(each.attname for each in columns)).iterator(chunk_size=1000)
    first = next(found, None)
    if first is None:
        return 0
    count = 0
    with opened.open(f"{rows.model._meta.db_table}.jsonl", "w", force_zip64=True) as part:
        for row in chain([first], found):
            line = {column.attname: _value(column, value) for column, value in zip(columns, row, strict=True)}
            part.write(exact(line).encode() + b"\n")
            count += 1
            if progress and count % TOLD_EVERY == 0:
                progress(before + count)
    return count


def _name(column: Any) -> str:
    return f"{column.model._meta.label_lower}:{column.name}"


def _value(column: models.Field[Any, Any], value: Any) -> Any:
    """Return a value as JSON knows it: documents as they are, bytes as hexadecimal, all else as text."""
    if isinstance(column, DocumentField) or type(value) in _PLAIN:
        return value
    return value.hex() if isinstance(value, bytes | memoryview) else str(value)
