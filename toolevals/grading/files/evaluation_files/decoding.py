"""Reads an evaluation file as one document: JSON, CSV, Parquet, YAML, a chat, OTLP's protobuf, zip; gzip or not."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

from toolevals.archives import UNREADABLE, zip_member
from toolevals.grading.files.evaluation_files.chat_text import chat_rows, is_chat
from toolevals.grading.files.evaluation_files.tables import MAGIC, is_table, parquet_rows, rows_of
from toolevals.grading.reading.telemetry.otlp_protobuf import exports_in
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.yaml_documents import load_yaml
from toolevals.json_types import JsonValue

MAX_DOCUMENT_BYTES = 100_000_000
# Traces nest their spans.
MAX_DOCUMENT_DEPTH = 100
_BOM = b"\xef\xbb\xbf"
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_SAMPLES = re.compile(r"samples/[^/]+\.json")
_PLACE = re.compile(r"/(\d+)(/.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document, and where it is of JSON Lines or a table the number of the line (from 1) of each of its entries."""

    value: JsonValue
    lines: tuple[int, ...] = ()
    is_table: bool = False

    def place(self, pointer: str) -> tuple[int | None, str]:
        """Return the line of a pointer into the document (None where it has no lines), and the pointer there."""
        found = _PLACE.fullmatch(pointer) if self.lines else None
        return (None, pointer) if found is None else (self.lines[int(found[1])], found[2] or "")

    def named(self, pointer: str) -> str:
        """Return where something is in words that begin a message: "line 3, /output"."""
        line, inside = self.place(pointer)
        return f"line {line}{f', {inside}' if inside else ''}" if line is not None else inside


def decoded(content: bytes) -> Decoded:
    """Return the document. Raises InvalidDocument with the line, or line and column, that cannot be read."""
    if content[: len(_GZIP)] == _GZIP:
        content = _unpacked(content)
    if len(content) > MAX_DOCUMENT_BYTES:
        raise InvalidDocument.at("", f"is larger than {MAX_DOCUMENT_BYTES:,} bytes")
    require_utf8(content)
    if content[: len(_ZIP)] == _ZIP:
        return Decoded(_log_in_zip(content))
    if content[: len(MAGIC)] == MAGIC:
        return Decoded(parquet_rows(content))
    if _is_binary(content) and (exports := exports_in(content)):
        return Decoded(exports if len(exports) > 1 else exports[0])
    return _text(content.removeprefix(_BOM))


def _text(content: bytes) -> Decoded:
    if not content.strip():
        raise InvalidDocument.at("", "is empty")
    if is_chat(content):
        return Decoded(*chat_rows(content))
    if content.lstrip()[:1] in (b"{", b"["):
        lines = content.splitlines()
        return _lines(lines) if _is_lines(lines) else Decoded(_json(content))
    if is_table(content):
        return Decoded(*rows_of(content), is_table=True)
    try:
        return Decoded(load_yaml(content.decode()))
    except UnicodeDecodeError as error:
        raise InvalidDocument.at("", f"is not UTF-8 at byte {error.start}") from None


def require_utf8(head: bytes) -> None:
    """Raise InvalidDocument where text begins as UTF-16 or UTF-32 does: by a byte order mark, or a letter of ASCII."""
    has_mark = head[:2] in (b"\xff\xfe", b"\xfe\xff") or head[:4] == b"\0\0\xfe\xff"
    letters = (head[:1] + head[2:3], head[1:2]), (head[1:2] + head[3:4], head[:1] + head[2:3])
    (low, high), (big_low, big_high) = letters
    is_little = len(low) == 2 and high + head[3:4] == b"\0\0" and low.isascii() and low.decode().isprintable()
    is_big = len(big_low) == 2 and big_high == b"\0\0" and big_low.isascii() and big_low.decode().isprintable()
    if has_mark or is_little or is_big:
        raise InvalidDocument.at("", "is UTF-16 or UTF-32: save it as UTF-8 and send it again")


def _is_binary(content: bytes) -> bool:
    """Tell whether bytes are no text: ids and times of OTLP's messages are none."""
    try:
        return "\0" in content.decode()
    except UnicodeDecodeError:
        return True


def _is_lines(lines: list[bytes]) -> bool:
    """Tell whether the first two lines that are not empty are objects of their own."""
    filled = [line for line in lines if line.strip()][:2]
    return (
        len(filled) == 2
        and all(line.strip().startswith(b"{") and _is_json(line) for line in filled[:1])
        and (filled[1].lstrip().startswith(b"{"))
    )


def _is_json(line: bytes) -> bool:
    try:
        _json(line)
    except InvalidDocument:
        return False
    return True


def _lines(lines: list[bytes]) -> Decoded:
    values, numbers = [], []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                values.append(_json(line))
            except InvalidDocument as error:
                raise InvalidDocument.at("", f"line {number}: {error}") from None
            numbers.append(number)
    return Decoded(values, tuple(numbers))


def _json(content: bytes) -> Any:
    return load_json(content, max_bytes=MAX_DOCUMENT_BYTES, max_depth=MAX_DOCUMENT_DEPTH)


def _unpacked(content: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            return packed.read(MAX_DOCUMENT_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidDocument.at("", f"is an incomplete gzip file: {error}. Upload it again") from None


def _log_in_zip(content: bytes) -> Any:
    """Return the log in a zip as the one document that its JSON form is: the header, and its samples in order."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            names = sorted(name for name in packed.namelist() if _SAMPLES.fullmatch(name))
            if "header.json" not in packed.namelist():
                raise InvalidDocument.at("", "is a zip without header.json, which an Inspect log has")
            parts = ["header.json", *names]
            if (size := sum(packed.getinfo(name).file_size for name in parts)) > MAX_DOCUMENT_BYTES:
                raise InvalidDocument.at("", f"unpacks to {size:,} bytes; the limit is {MAX_DOCUMENT_BYTES:,}")
            header, *samples = (_member(packed, name) for name in parts)
    except UNREADABLE as error:
        raise InvalidDocument.at("", f"cannot be read as a zip: {error}") from None
    if not isinstance(header, dict):
        raise InvalidDocument.at("", "header.json: is not an object")
    return header | {"samples": samples}


def _member(packed: zipfile.ZipFile, name: str) -> Any:
    try:
        return _json(zip_member(packed, name))
    except InvalidDocument as error:
        raise InvalidDocument.at("", f"{name}: {error}") from None
