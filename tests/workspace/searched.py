"""Search every column of every table, and every file of the data folder."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection


def places(*words: str) -> set[str]:
    """Return the columns, as `table.column`, and the names of the files that hold one of the words in any case."""
    return columns_with(*words) | {path.name for path in files_with(*words)}


def columns_with(*words: str) -> set[str]:
    """Return the columns that hold one of the words."""
    found = set()
    quoted = connection.ops.quote_name
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            for column in connection.introspection.get_table_description(cursor, table):
                text = f"lower(CAST({quoted(column.name)} AS text))"
                held = " OR ".join(f"{text} LIKE '%%' || %s || '%%'" for _ in words)
                cursor.execute(
                    f"SELECT count(*) FROM {quoted(table)} WHERE {held}",
                    [word.lower() for word in words],
                )
                if cursor.fetchone()[0]:
                    found.add(f"{table}.{column.name}")
    return found


def files_with(*words: str) -> Iterator[Path]:
    """Yield the files that hold one of the words; of a ZIP, in what it holds."""
    for path in Path(settings.DATA_DIR).rglob("*"):
        if path.is_file() and any(word.lower().encode() in _content(path).lower() for word in words):
            yield path


def _content(path: Path) -> bytes:
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as opened:
        return b"".join(opened.read(name) for name in opened.namelist())
