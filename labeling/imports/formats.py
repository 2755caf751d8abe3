"""List the formats that examples are imported from: how a file of it is recognised, and how an entry is read.

A list of JSON, or the rows of Parquet, are read as lines of JSON. A file's format is found by its content, with the
reason in words.
"""

from __future__ import annotations

import gzip
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Literal, NamedTuple

import orjson

from labeling.imports.gzip_files import is_packed, is_zip, pieces_of, unpacked
from labeling.imports.parts import BOM, MAX_LINE_BYTES, Settings
from labeling.imports.readers.bfcl import bfcl_row, leaderboard_lines
from labeling.imports.readers.columns import table_row, targets_problems
from labeling.imports.readers.langsmith import langsmith_row, langsmith_table_row
from labeling.imports.readers.openai import openai_chat_rows, openai_evals_row
from labeling.imports.readers.recorded_tasks import OPTIONS, Found, tau2_rows, tau_rows
from labeling.imports.tables import DELIMITERS, preview
from toolevals.archives import UNREADABLE
from toolevals.grading.files.evaluation_files.chat_text import is_chat
from toolevals.grading.files.evaluation_files.conversations import DECISIONS
from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES, decoded, require_utf8
from toolevals.grading.files.evaluation_files.entry import FileFormat
from toolevals.grading.files.evaluation_files.formats import FORMATS, detected
from toolevals.grading.files.evaluation_files.tables import MAGIC
from toolevals.grading.files.evaluation_files.unknown_files import PLAIN
from toolevals.grading.files.example_files import (
    TITLES,
    ExampleFormat,
    first_entry,
    line_format,
    recorded_format,
    table_format,
)
from toolevals.grading.reading.examples import ExampleRow, read_example
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

_HEAD = 1_000
# Objects in a list, or an empty one.
_LIST = re.compile(rb"\s*\[\s*[{\]]")


# One JSON document a line; a table with a head (CSV); one JSON document in all.
Shape = Literal["lines", "table", "document"]
OptionsCheck = Callable[[JsonMapping], list[Problem]]
# The name by which a person leaves the format open.
AUTO = "auto"
MOST_EMPTY = 1_000_000


def is_list(file: IO[bytes]) -> bool:
    """Tell whether a file, packed or not, begins as a list of JSON or as Parquet does."""
    with unpacked(file) as plain:
        head = plain.read(_HEAD).removeprefix(BOM)
    return head.startswith(MAGIC) or _LIST.match(head) is not None


def lines_of_list(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the entries of the list, each a line. Raises InvalidDocument where it cannot be read."""
    with unpacked(file) as plain:
        content = plain.read(MAX_DOCUMENT_BYTES + 1)
    for entry in decoded(content).value:
        try:
            yield orjson.dumps(entry) + b"\n"
        except TypeError:
            # Integers beyond 64 bits.
            yield json.dumps(entry).encode() + b"\n"


def _no_options(options: JsonMapping) -> list[Problem]:
    return [Problem(f"/options/{name}", "is not an option of this format") for name in options]


def _table_options(options: JsonMapping) -> list[Problem]:
    columns = options.get("columns")
    if not isinstance(columns, Mapping) or not all(isinstance(target, str) for target in columns.values()):
        return [Problem("/options/columns", "must say what each column holds")]
    problems = [problem.below("/options/columns") for problem in targets_problems(columns)]
    return problems + _delimiter_options({name: value for name, value in options.items() if name != "columns"})


def _delimiter_options(options: JsonMapping) -> list[Problem]:
    if options.get("delimiter", ",") not in DELIMITERS:
        return [Problem("/options/delimiter", f"must be one of {', '.join(map(repr, DELIMITERS))}")]
    return _no_options({name: value for name, value in options.items() if name != "delimiter"})


def _recorded_options(options: JsonMapping) -> list[Problem]:
    problems = _no_options({name: value for name, value in options.items() if name not in OPTIONS})
    return problems + [
        Problem(f"/options/{name}", f"must be one of {', '.join(choices)}")
        for name, choices in OPTIONS.items()
        if options.get(name, choices[0]) not in choices
    ]


def _decision_options(options: JsonMapping) -> list[Problem]:
    problems = _no_options({name: value for name, value in options.items() if name != "decision"})
    if "decision" in options and options["decision"] not in DECISIONS:
        problems.append(Problem("/options/decision", f"must be one of {', '.join(DECISIONS)}"))
    return problems


def _native_row(value: Any, settings: Settings) -> ExampleRow:
    return read_example(value)


@dataclass(frozen=True, slots=True)
class Source:
    """A format: its name, what people call it, what one entry is, and what a file of it is.

    `read` turns one entry (a line's document, or a row's cells by column) into an example and raises InvalidDocument;
    `read_several` into one or more, `read_all` takes a whole document. `check` says what is wrong with
    the options that a person gave.
    """

    name: str
    title: str
    entry: str
    shape: Shape = "lines"
    read: Callable[[Any, Settings], ExampleRow] | None = None
    read_several: Callable[[Any, Settings], Iterator[ExampleRow]] | None = None
    read_all: Callable[[Any, Settings], Iterator[Found]] | None = None
    check: OptionsCheck = _no_options
    # Whether a person is asked before the import begins.
    asks: bool = False
    # How a zip of several files is read as one; None where the format has no such zip.
    unzip: Callable[[IO[bytes]], Iterator[bytes]] | None = None
    # How a document of another evaluation tool is read; None where it is no such format.
    file_format: FileFormat | None = None

    @property
    def decides(self) -> bool:
        """Tell whether entries are conversations, of which one decision or every one becomes an example."""
        return self.check is _decision_options

    def rows(self, value: Any, settings: Settings) -> list[ExampleRow]:
        """Return the examples of one entry of a file of lines or of a table. Raises InvalidDocument."""
        if self.read_several is not None:
            return list(self.read_several(value, settings))
        if self.read is None:
            raise TypeError(f"{self.name} reads no single entries")
        return [self.read(value, settings)]

    def is_packed(self, file: IO[bytes]) -> bool:
        """Tell whether a file has to be unpacked before it can be cut into parts; lines may come as a list too."""
        if self.unzip is not None and is_zip(file):
            return True
        return is_packed(file) or (self.shape == "lines" and is_list(file))

    def unpacked(self, file: IO[bytes]) -> Iterator[bytes]:
        """Yield the content of a packed file. Raises InvalidDocument where it is broken."""
        if self.unzip is not None and is_zip(file):
            return self.unzip(file)
        return lines_of_list(file) if self.shape == "lines" and is_list(file) else pieces_of(file)

    def require_options(self, options: JsonMapping) -> None:
        """Raise InvalidDocument where the options are not what the format takes."""
        if problems := self.check(options):
            raise InvalidDocument(problems)


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source("jsonl", TITLES["jsonl"], "an example a line, in the plain or the full form", read=_native_row),
        Source(
            "csv",
            TITLES["csv"],
            "an example a row; you say what each column holds",
            shape="table",
            read=table_row,
            check=_table_options,
            asks=True,
        ),
        Source(
            "openai_chat",
            TITLES["openai_chat"],
            '{"messages": [...], "tools": [...]} a line: by default the last turn is expected',
            read_several=openai_chat_rows,
            check=_decision_options,
            asks=True,
        ),
        Source("openai_evals", TITLES["openai_evals"], '{"input": [...], "ideal": ...} a line', read=openai_evals_row),
        Source(
            "langsmith",
            TITLES["langsmith"],
            '{"inputs": {...}, "outputs": {...}, "metadata": {...}} a line',
            read=langsmith_row,
        ),
        Source(
            "langsmith_csv",
            TITLES["langsmith_csv"],
            "an example a row, a column for each key",
            shape="table",
            read=langsmith_table_row,
            check=_delimiter_options,
        ),
        Source(
            "bfcl",
            TITLES["bfcl"],
            "a zip of BFCL_v4_<category>.json and possible_answer/, as exported and as published; or "
            '{"question_row": {...}, "answer_row": {...} or null, "category": "multiple"} a line',
            read=bfcl_row,
            unzip=leaderboard_lines,
        ),
        Source(
            "tau",
            TITLES["tau"],
            "a result file: an example for each task",
            shape="document",
            read_all=tau_rows,
            check=_recorded_options,
            asks=True,
        ),
        Source(
            "tau2",
            TITLES["tau2"],
            "a result file: an example for each task",
            shape="document",
            read_all=tau2_rows,
            check=_recorded_options,
            asks=True,
        ),
        *(
            Source(
                each.name,
                each.title,
                each.entry,
                shape="document",
                file_format=each,
                check=_decision_options if each.decides else _no_options,
                asks=each.decides is not None,
            )
            for each in FORMATS.values()
            if "examples" in each.gives
        ),
    )
}


def source_named(name: str) -> Source:
    """Return a format by its name. Raises InvalidDocument."""
    if name not in SOURCES:
        raise InvalidDocument.at("/source", f"must be one of {', '.join(SOURCES)}")
    return SOURCES[name]


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
            raise InvalidDocument.at("", f"is not JSON, and its first line is longer than {MAX_LINE_BYTES:,} bytes")
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
        raise InvalidDocument.at("", f"is not a readable ZIP file: {error}") from None
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
        raise InvalidDocument.at("", f"is an incomplete gzip file: {error}. Upload it again") from None
    return bytes(line)


def _value(line: bytes) -> Any:
    """Return the value of a line that is JSON by itself; None of any other."""
    try:
        return load_json(line, max_bytes=MAX_LINE_BYTES)
    except InvalidDocument:
        return None
