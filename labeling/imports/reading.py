"""Read one part of a file: entries become examples, and errors in others are noted."""

from __future__ import annotations

from typing import IO, Any

from labeling.imports.formats import Source
from labeling.imports.lines import BOM, MAX_LINE_BYTES, lines_in
from labeling.imports.packing import unpacked
from labeling.imports.parts import Part
from labeling.imports.readers.settings import Settings
from labeling.imports.tables import Records, columns_of, delimiter_of, rows_in
from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES
from toolevals.grading.files.evaluation_files.entry import ROW_LEFT, FileFormat
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem


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
