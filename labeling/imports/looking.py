"""Read the examples of a file as the import does, before anything of it is stored. It needs no database."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Final

from labeling.imports.formats import SOURCES
from labeling.imports.lines import parts_of
from labeling.imports.packing import plain_copy
from labeling.imports.parts import Part
from labeling.imports.readers.settings import Settings
from labeling.imports.reading import part_read
from labeling.imports.tables import preview
from toolevals.grading.files.file_kinds import FileKind, plain_of
from toolevals.grading.files.file_preview import Examples, FileLook, LookRow, Progress, look_at
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.problems import InvalidDocument, Problem

_MOST_UNPACKED: Final = 1_000_000_000
_FIRST_ROWS: Final = 5


def file_looked_at(content: bytes, *, progress: Progress = lambda _: None) -> FileLook:
    """Return what a file holds, all of it read as the import reads it; of a table its columns, which a person maps.

    Raises InvalidDocument where it is of no known format.
    """
    look = look_at(content, examples=examples_in, progress=progress)
    if look.kind.format == "csv" and not look.rows:
        _show_columns(look, content)
    return look


def examples_in(kind: FileKind, content: bytes) -> Examples:
    """Yield each example of a file, or what is wrong with it, in the order of the file."""
    source = SOURCES[kind.format]
    if kind.format == "csv":
        # What its columns hold is said by a person, before anything of it can be read.
        return
    file: IO[bytes] = io.BytesIO(content)
    if source.is_packed(file):
        with plain_copy(source.unpacked(file), _MOST_UNPACKED) as plain:
            yield from examples_in(kind, plain.read())
        return
    whole = source.shape != "lines"
    before = 0
    first: dict[str, int] = {}
    for start, end in [(0, len(content))] if whole else parts_of(len(content)):
        part = part_read(source, file, start, end, Settings())
        for line, pointer, row in _entries_of(part, before):
            if isinstance(row, ExampleRow) and (used := first.setdefault(row.external_id, line)) != line:
                message = f"the id {row.external_id} is used in {'entry' if whole else 'line'} {used} already"
                yield line, pointer, InvalidDocument.at("/id", message)
            else:
                yield line, pointer, row
        before += part.lines


def _entries_of(part: Part, before: int) -> Iterator[tuple[int, str, ExampleRow | InvalidDocument]]:
    found: list[tuple[int, str, ExampleRow | InvalidDocument]] = [
        (line, part.places.get(line, ""), row) for line, _, row in part.rows
    ]
    found += [
        (each["line"], "", InvalidDocument([Problem(each["pointer"], each["message"])])) for each in part.problems
    ]
    for line, pointer, row in sorted(found, key=lambda each: each[0]):
        yield before + line, pointer, row


def _show_columns(look: FileLook, content: bytes) -> None:
    """Show the columns of a table with their first values: what they hold is said before they are read."""
    plain = plain_of(content)
    try:
        plain.decode()
    except UnicodeDecodeError as error:
        line = plain.count(b"\n", 0, error.start) + 1
        words = f"line {line} is not UTF-8: save the table as CSV in UTF-8, and send it again"
        raise InvalidDocument.at("", words) from None
    file = io.BytesIO(plain)
    table = preview(file, _FIRST_ROWS)
    # No row is an example before the columns have their meaning.
    look.counts = {"rows": table.count_rows(file), "columns": len(table.columns)}
    for number, column in enumerate(table.columns):
        values = [row[number][:60] for row in table.rows if row[number].strip()]
        look.rows.append(LookRow(column, ", ".join(values[:3])))
