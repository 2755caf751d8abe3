"""Find the format of a file of examples by its content, with the reason in words."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

from labeling.imports.formats import SOURCES, Source
from labeling.imports.gzip_files import is_packed, is_zip, unpacked
from labeling.imports.parts import BOM, MAX_LINE_BYTES
from labeling.imports.tables import preview
from toolevals.archives import UNREADABLE
from toolevals.grading.files.evaluation_files.chat_text import is_chat
from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES, decoded, require_utf8
from toolevals.grading.files.evaluation_files.formats import detected
from toolevals.grading.files.evaluation_files.tables import MAGIC
from toolevals.grading.files.evaluation_files.unknown_files import PLAIN
from toolevals.grading.files.example_files import (
    ExampleFormat,
    first_entry,
    line_format,
    recorded_format,
    table_format,
)
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

# The name by which a person leaves the format open.
AUTO = "auto"
MOST_EMPTY = 1_000_000


class DetectedSource(NamedTuple):
    """A format, and why it is this one."""

    source: Source
    evidence: str

    @property
    def sentence(self) -> str:
        """Return what to tell the person whose file it is."""
        return f"Read as {self.source.title}: {self.evidence}."


def source_of(file: IO[bytes]) -> DetectedSource:
    """Return the format of a file. Raises InvalidDocument that says what it holds and which known format is nearest."""
    if is_zip(file):
        return _zip(file)
    if _is_parquet(file):
        file.seek(0)
        return _document(decoded(file.read(MAX_DOCUMENT_BYTES + 1)).value)
    head = _head(file)
    require_utf8(head[:4])
    if not head.strip():
        raise InvalidDocument.at("", "is empty")
    if head.lstrip()[:1] not in (b"{", b"["):
        if len(head) > MAX_LINE_BYTES:
            raise InvalidDocument.at("", f"is no JSON, and its first line is longer than {MAX_LINE_BYTES:,} bytes")
        return _text(file)
    first = _value(head.strip())
    if isinstance(first, Mapping) and (source := _named(line_format(first))) is not None:
        return source
    file.seek(0)
    document = decoded(file.read(MAX_DOCUMENT_BYTES + 1)).value
    return _document(document)


def _document(document: Any) -> DetectedSource:
    """Return the format of a whole document; a list may hold what another format has on its lines."""
    if (found := _named(recorded_format(document))) is not None:
        return found
    try:
        return _evaluation(document)
    except InvalidDocument:
        listed = line_format(first_entry(document)) if isinstance(document, list) else None
        if (found := _named(listed)) is None:
            raise
        return found


def _is_parquet(file: IO[bytes]) -> bool:
    with unpacked(file) as plain:
        return plain.read(len(MAGIC)) == MAGIC


def _named(example_format: ExampleFormat | None) -> DetectedSource | None:
    return None if example_format is None else DetectedSource(SOURCES[example_format.name], example_format.evidence)


def _evaluation(document: Any) -> DetectedSource:
    evaluation = detected(document)
    if evaluation.format.name not in SOURCES:
        raise InvalidDocument.at("", f"{evaluation.sentence} It holds no examples")
    return DetectedSource(SOURCES[evaluation.format.name], evaluation.evidence)


def _text(file: IO[bytes]) -> DetectedSource:
    """Return the format of a file that begins neither as an object nor as a list: a chat's text, YAML or a table."""
    file.seek(0)
    with unpacked(file) as plain:
        content = plain.read(MAX_DOCUMENT_BYTES + 1)
    if is_chat(content.removeprefix(BOM)):
        return _evaluation(decoded(content).value)
    try:
        document = decoded(content).value
    except InvalidDocument:
        document = None
    if isinstance(document, Mapping):
        return _evaluation(document)
    if isinstance(document, list) and (found := _tool_table(document)) is not None:
        return found
    with unpacked(file) as plain:
        columns = preview(plain).columns
    if (found := _named(table_format(columns))) is None:
        raise InvalidDocument.at("", f"has an unknown format: it is neither JSON nor YAML nor a table. {PLAIN}")
    return found


def _tool_table(rows: list[Any]) -> DetectedSource | None:
    """Return the format of the table of another evaluation tool; None of any other table."""
    try:
        table = detected(rows, is_table=True)
    except InvalidDocument:
        return None
    if table.format.name not in SOURCES:
        raise InvalidDocument.at("", f"{table.sentence} It holds no examples")
    return DetectedSource(SOURCES[table.format.name], table.evidence)


def _zip(file: IO[bytes]) -> DetectedSource:
    try:
        with zipfile.ZipFile(file) as packed:
            names = packed.namelist()
    except UNREADABLE as error:
        raise InvalidDocument.at("", f"is no zip that can be read: {error}") from None
    if "header.json" in names:
        return DetectedSource(SOURCES["inspect"], "a zip with header.json and samples")
    if any("BFCL_v4_" in name for name in names):
        return DetectedSource(SOURCES["bfcl"], "a zip with BFCL_v4 files")
    raise InvalidDocument.at(
        "", "is a zip of no format that is known here: neither header.json nor BFCL_v4 files in it"
    )


def _head(file: IO[bytes]) -> bytes:
    """Return the first line that is not empty, unpacked."""
    packed = is_packed(file)
    file.seek(0)
    plain: Any = gzip.GzipFile(fileobj=file, mode="rb") if packed else file
    try:
        line, empty = b"\n", 0
        while line and not line.strip():
            line = plain.readline(MAX_LINE_BYTES + 1).removeprefix(BOM)
            empty += len(line)
            if empty > MOST_EMPTY and not line.strip():
                raise InvalidDocument.at("", f"begins with more than {MOST_EMPTY:,} bytes of empty lines")
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidDocument.at("", f"is no whole gzip file: {error}. Send it again") from None
    return bytes(line)


def _value(line: bytes) -> Any:
    """Return the value of a line that is JSON by itself; None of any other."""
    try:
        return load_json(line, max_bytes=MAX_LINE_BYTES)
    except InvalidDocument:
        return None
