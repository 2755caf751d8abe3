"""Read one part of a file, and a whole file before anything of it is stored. It needs no database."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any, Final

from labeling.imports.formats import SOURCES, Source
from labeling.imports.gzip_files import plain_copy, unpacked
from labeling.imports.parts import BOM, MAX_LINE_BYTES, Part, Settings, lines_in, parts_of
from labeling.imports.tables import Records, columns_of, delimiter_of, preview, rows_in
from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES
from toolevals.grading.files.evaluation_files.entry import ROW_LEFT, FileFormat
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.files.file_kinds import FileKind, plain_of
from toolevals.grading.files.file_preview import Examples, FileLook, LookRow, Progress, look_at
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem

_MOST_UNPACKED: Final = 1_000_000_000
_FIRST_ROWS: Final = 5


def part_read(source: Source, file: IO[bytes], start: int, end: int, settings: Settings) -> Part:
    """Return what the bytes from `start` to `end` hold; of a document, everything. Raises InvalidDocument.

    What is wrong with single entries is in the part; raised is what leaves nothing to read.
    """
    if source.shape == "table":
        return _read_table(source, file, start, end, settings)
    if source.file_format is not None:
        return _read_evaluation_file(source.file_format, file, settings)
    if source.shape == "document":
        return _read_document(source, file, settings)
    return _read_lines(source, file, start, end, settings)


def line_value(line: bytes) -> Any:
    """Return the JSON value of a line. Raises InvalidDocument."""
    try:
        # Text is read by the quick parser first; bytes that are no text get their message from the careful one.
        return load_json(line.decode(), max_bytes=MAX_LINE_BYTES)
    except UnicodeDecodeError:
        return load_json(line, max_bytes=MAX_LINE_BYTES)


def _read_lines(source: Source, file: IO[bytes], start: int, end: int, settings: Settings) -> Part:
    part = Part()
    for offset, line in lines_in(file, start, end):
        part.lines += 1
        if line is None:
            part.refuse(part.lines, [Problem("", f"the line is longer than {MAX_LINE_BYTES:,} bytes")])
        elif line.strip():
            try:
                part.rows += [(part.lines, offset, row) for row in source.rows(line_value(line), settings)]
            except InvalidDocument as error:
                part.refuse(part.lines, error.problems)
    return part


def _read_table(source: Source, file: IO[bytes], start: int, end: int, settings: Settings) -> Part:
    part = Part()
    delimiter = settings.options.get("delimiter") or delimiter_of(file)
    columns = columns_of(file, delimiter)
    if missing := [name for name in settings.options.get("columns", ()) if name not in columns]:
        raise InvalidDocument.at("", f"has no column {', '.join(missing)}: it has {', '.join(columns)}")
    records = Records(file, start, end, delimiter)
    for line, offset, cells in rows_in(records, columns, has_head=start == 0):
        if isinstance(cells, Problem):
            part.refuse(line, [cells])
            continue
        try:
            part.rows += [(line, offset, row) for row in source.rows(cells, settings)]
        except InvalidDocument as error:
            part.refuse(line, error.problems)
    part.lines = records.line
    return part


def _read_document(source: Source, file: IO[bytes], settings: Settings) -> Part:
    part = Part()
    if source.read_all is None:
        raise TypeError(f"{source.name} reads no documents")
    with unpacked(file) as plain:
        text = plain.read(MAX_DOCUMENT_BYTES + 1)
    document = load_json(text.removeprefix(BOM), max_bytes=MAX_DOCUMENT_BYTES)
    for number, (pointer, found) in enumerate(source.read_all(document, settings), 1):
        part.lines = number
        if isinstance(found, InvalidDocument):
            part.refuse(number, found.problems)
        else:
            part.rows.append((number, number, found))
            part.places[number] = pointer
    return part


def _read_evaluation_file(file_format: FileFormat, file: IO[bytes], settings: Settings) -> Part:
    part = Part()
    file.seek(0)
    evaluation = evaluation_file(
        file.read(MAX_DOCUMENT_BYTES + 1), file_format.name, settings.options.get("decision", "")
    )
    left: list[tuple[int, InvalidDocument]] = []
    for place, row in evaluation.examples():
        part.lines = max(part.lines, place.number)
        if isinstance(row, InvalidDocument):
            left.append((place.number, row))
        else:
            part.rows.append((place.number, place.number, row))
            part.places[place.number] = place.pointer
    for number, error in left:
        if file_format.leaves_rows and part.rows:
            part.remark(number, (Problem(each.pointer, f"{each.message}: {ROW_LEFT}") for each in error.problems))
        else:
            part.refuse(number, error.problems)
    if not part.lines:
        raise InvalidDocument.at("", f"holds no examples, as {file_format.title}")
    return part


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
                message = f"the id {row.external_id} is already used in {'entry' if whole else 'line'} {used}"
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
