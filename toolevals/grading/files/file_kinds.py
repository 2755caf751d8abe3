"""Tell what a file is, told by its content among everything that is read here.

Tools, examples, predictions, and others.
"""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from toolevals.archives import MAGIC, UNREADABLE
from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES, decoded, require_utf8
from toolevals.grading.files.evaluation_files.formats import FORMATS as EVALUATION_FORMATS
from toolevals.grading.files.evaluation_files.formats import known_formats
from toolevals.grading.files.evaluation_files.tables import MAGIC as PARQUET
from toolevals.grading.files.evaluation_files.tables import best_delimiter, name_twice
from toolevals.grading.files.evaluation_files.unknown_files import PLAIN, unknown_words
from toolevals.grading.files.example_files import (
    TITLES,
    ExampleFormat,
    first_entry,
    line_format,
    recorded_format,
    table_format,
)
from toolevals.grading.reading.parsing.format_table import found_in
from toolevals.grading.reading.parsing.provider_run import client_tool, provider_run_tool
from toolevals.grading.reading.specs.files import document_in
from toolevals.grading.reading.specs.formats import FORMAT_TABLE, detected_format
from toolevals.grading.values.documents import load_json, schema
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping

Kind = Literal["tools", "examples", "predictions", "rows", "evaluation", "messages", "gate"]
# What each kind is called.
KINDS: Final[Mapping[Kind, str]] = {
    "tools": "tools",
    "examples": "examples",
    "predictions": "predictions",
    "rows": "rows",
    "evaluation": "an evaluation file",
    "messages": "messages of one conversation",
    "gate": "a gate",
}
_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_LINE: Final = 4_000_000
_DELIMITERS: Final = (",", ";", "\t", "|")
_LABELS: Final = {each.name: each.label for each in FORMAT_TABLE}
# Keys under which one tool has its arguments, and which of an outer object hold a list of tools.
_SCHEMAS: Final = frozenset(
    ("input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema")
)
_LISTS: Final = frozenset(("functionDeclarations", "function_declarations"))
_OUTER: Final = ("tools", "functions")
# What may stand next to a list of tools: what else is there makes it a row of something else, which has tools.
_BESIDE: Final = frozenset((
    *_OUTER, "skills", "nextCursor", "next_cursor", "_meta", "meta", "$schema", "name", "title", "description",
    "version", "tool_choice", "toolChoice", "parallel_tool_calls", "jsonrpc", "id",
))  # fmt: skip
# Keys of our own predictions; one of the latter says what was done.
_PREDICTION: Final = frozenset(schema("prediction")["properties"])
_EXPECTED: Final = frozenset(("expected_tool", "expectation"))
_DONE: Final = frozenset(("tool_calls", "messages", "steps", "text", "error"))
_ROW: Final = _PREDICTION | frozenset(schema("example")["properties"])
_GATE: Final = frozenset(schema("gate")["properties"])


@dataclass(frozen=True, slots=True)
class FileKind:
    """The kind of a file, the format's name there and title, why, and what can be made of it."""

    kind: Kind
    format: str
    title: str
    because: str
    gives: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Return what to tell the person whose file it is."""
        return f"Read as {KINDS[self.kind]}, {self.title}: {self.because}."


def what_is(content: bytes) -> FileKind:
    """Return what a file is.

    Raises InvalidDocument with the place that cannot be read, or with what the file has and the nearest known format.
    """
    plain = plain_of(content)
    if plain.startswith(MAGIC):
        return _zip(plain)
    require_utf8(plain[:4])
    if plain.startswith(PARQUET):
        return _document(decoded(plain).value)
    if not plain.strip():
        raise InvalidDocument.at("", "is empty")
    if plain.lstrip()[:1] in (b"{", b"["):
        first = _first_line(plain)
        if isinstance(first, Mapping) and (found := _line(first)) is not None:
            return found
        return _document(decoded(plain).value)
    return _text(plain)


def _line(first: JsonMapping) -> FileKind | None:
    """Return what a file is whose first line is an object by itself; None where its lines tell nothing."""
    if first.keys() <= _PREDICTION and "id" in first and not _DONE.isdisjoint(first):
        done = next(key for key in first if key in _DONE)
        return FileKind("predictions", "jsonl", "toolevals predictions", f"lines have id and {done}", ("predictions",))
    made = [key for key in first if key in _DONE]
    if "input" in first and made and first.keys() <= _ROW and not _EXPECTED.isdisjoint(first):
        because = f"lines have input, what is expected, and {made[0]}"
        return FileKind("rows", "rows", "for `toolevals grade` and `toolevals gate`", because)
    return None if _is_tools(first) else _examples(line_format(first))


def _examples(example_format: ExampleFormat | None) -> FileKind | None:
    if example_format is None:
        return None
    return FileKind(
        "examples", example_format.name, TITLES[example_format.name], example_format.evidence, ("examples",)
    )


def _document(document: object) -> FileKind:
    if isinstance(document, Mapping) and document and document.keys() <= _GATE:
        named = ", ".join(document)
        return FileKind("gate", "gate", "toolevals gate", f"it has {named}", ("gate",))
    if (found := _examples(recorded_format(document))) is not None:
        return found
    if _is_tools(document):
        tools = detected_format(document)
        return FileKind("tools", tools.format, _LABELS[tools.format], tools.because, ("tools",))
    if (evaluation := _evaluation(document)) is not None:
        return evaluation
    if isinstance(document, list) and (found := _examples(line_format(first_entry(document)))) is not None:
        return found
    if (messages := _messages(document)) is not None:
        return messages
    raise InvalidDocument.at("", f"has an unknown format: {unknown_words(document, _known())}")


def _evaluation(document: object, *, is_table: bool = False) -> FileKind | None:
    """Return the format of another evaluation tool's file; of a table, one that such a tool writes as a table."""
    for each in EVALUATION_FORMATS.values():
        if (each.tables or not is_table) and (evidence := each.detect(document)) is not None:
            return FileKind("evaluation", each.name, each.title, evidence, each.gives)
    return None


def _is_tools(document: object) -> bool:
    """Tell whether a document is a list of tools: by its own keys, or because its first object has a tool's keys."""
    if isinstance(document, Mapping):
        if document.keys() & {"openapi", "swagger"} or document.keys() & _LISTS or _is_tool(document):
            return True
        if isinstance(result := document.get("result"), Mapping) and isinstance(result.get("tools"), list):
            return True
        if not document.keys() <= _BESIDE:
            return False
        if isinstance(skills := document.get("skills"), list) and skills:
            return True
        document = next((document[key] for key in _OUTER if isinstance(document.get(key), list)), None)
    entries = [each for each in document if isinstance(each, Mapping)] if isinstance(document, list) else []
    first = next((each for each in entries if provider_run_tool(each) is None), None)
    # Tools that the provider runs may stand before others, or alone.
    return bool(entries) and (first is None or _is_tool(first) or bool(first.keys() & _LISTS))


def _is_tool(entry: JsonMapping) -> bool:
    inner = entry.get("function")
    if client_tool(entry) is not None:
        return True
    if isinstance(inner, Mapping):
        return "name" in inner and ("parameters" in inner or "description" in inner)
    if "name" not in entry or "role" in entry:
        return False
    return bool(entry.keys() & _SCHEMAS) or entry.get("type") in ("function", "custom")


def _messages(document: object) -> FileKind | None:
    try:
        found = found_in(document)
    except InvalidDocument:
        return None
    items = [item for _, item in found.opened.items]
    if found.strict and not (items and all("role" in item and "content" in item for item in items)):
        return None
    return FileKind("messages", found.format.name, found.format.label, found.why)


def _text(plain: bytes) -> FileKind:
    """Return what a file is that begins neither as an object nor as a list: YAML or a table."""
    is_table = False
    try:
        read = decoded(plain)
    except InvalidDocument as error:
        document, problem = None, error
    else:
        document, is_table = read.value, read.is_table
        problem = InvalidDocument.at("", f"has an unknown format: it is neither JSON nor YAML nor a table. {PLAIN}")
    if is_table and (evaluation := _evaluation(document, is_table=True)) is not None:
        return evaluation
    if not is_table and isinstance(document, (Mapping, list)) and document:
        return _document(document)
    if (found := _examples(table_format(_columns(plain)))) is not None:
        return found
    raise problem


def _columns(plain: bytes) -> list[str]:
    head = plain.splitlines()[0][:_LINE].decode(errors="replace")
    delimiter = best_delimiter(head, _DELIMITERS)
    columns = next(csv.reader(io.StringIO(head), delimiter=delimiter), [])
    if twice := name_twice([name.strip() for name in columns]):
        raise InvalidDocument.at("", f"the head names {twice} twice: rename one of the columns")
    return columns


def _zip(content: bytes) -> FileKind:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            names = packed.namelist()
    except UNREADABLE as error:
        raise InvalidDocument.at("", f"cannot be read as a zip: {error}") from None
    if "header.json" in names:
        log = EVALUATION_FORMATS["inspect"]
        return FileKind("evaluation", log.name, log.title, "a zip with header.json and samples", log.gives)
    if any("BFCL_v4_" in name for name in names):
        return FileKind("examples", "bfcl", TITLES["bfcl"], "a zip with BFCL_v4 files", ("examples",))
    if "xl/workbook.xml" in names:
        raise InvalidDocument.at("", "is a workbook of Excel: save the sheet as CSV in UTF-8, and send that")
    return _document(document_in(content))


def _first_line(plain: bytes) -> Any:
    """Return the value of the first line that is not empty, where it is JSON by itself."""
    line = next((line for line in io.BytesIO(plain) if line.strip()), b"")
    try:
        return load_json(line, max_bytes=_LINE)
    except InvalidDocument:
        return None


def plain_of(content: bytes) -> bytes:
    """Return a file's content without gzip and without a byte order mark. Raises InvalidDocument."""
    if not content.startswith(_GZIP):
        return content.removeprefix(_BOM)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            plain = packed.read(MAX_DOCUMENT_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidDocument.at("", f"is an incomplete gzip file: {error}. Upload it again") from None
    if len(plain) > MAX_DOCUMENT_BYTES:
        raise InvalidDocument.at("", f"unpacks to more than {MAX_DOCUMENT_BYTES:,} bytes")
    return plain.removeprefix(_BOM)


def _known() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the title of each format with the keys that make it."""
    yield "toolevals predictions", ("id", "tool_calls")
    yield from known_formats()
    yield "OpenAI tools", ("name", "description", "parameters")
    yield "Anthropic tools", ("name", "description", "input_schema")
    yield "MCP tools/list", ("name", "description", "inputSchema")
    yield "OpenAPI document", ("openapi", "paths")
