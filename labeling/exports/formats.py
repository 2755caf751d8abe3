"""List the formats that examples are exported to, in one table, and write the native one.

Native JSON Lines are the full form of the example schema, one document a line. They are put together from the text that
is stored, keys in the order in which they were written, so that an export streams at the speed of the database and an
import of it gives the same text again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.http import StreamingHttpResponse

from labeling.exports.bfcl import bfcl_zip
from labeling.exports.judgements import with_judgements
from labeling.exports.langsmith import langsmith_lines
from labeling.exports.openai_chat import openai_chat_lines
from labeling.exports.selection import Outcome, Selection, ToolLists
from labeling.exports.table import example_parquet, example_table, label_parquet, label_table
from labeling.models import Dataset, DatasetVersion
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.problems import InvalidDocument
from toolevals.presentation.parquet import missing_package

JSON_LINES = "application/jsonl"
PARQUET = "application/vnd.apache.parquet"


def native_lines(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Yield a line for every example, with its gold where there is any, and what people said of it elsewhere."""
    tools = _ToolTexts()
    for row, judgements in with_judgements(selection):
        parts = [f'"id":{exact(row.external_id)}', f'"input":{row.input}', f'"tools":{tools[row.tools]}']
        if row.expectation is not None:
            parts += [f'"expectation":{row.expectation}', f'"gold_source":{exact(row.gold_source)}']
        if row.rationale:
            parts.append(f'"rationale":{exact(row.rationale)}')
        if row.decided_by:
            parts.append(f'"decided_by":{exact(row.decided_by)}')
        if row.strata:
            parts.append(f'"strata":{exact(row.strata)}')
        if judgements:
            parts.append(f'"judgements":{exact(judgements)}')
        outcome.written += 1
        yield f"{{{','.join(parts)}}}\n".encode()


def dataset_lines(dataset: Dataset) -> Iterator[bytes]:
    """Yield every example as it is shown now, with the gold in force where there is any, in the order of import."""
    return native_lines(Selection(dataset), Outcome())


def version_lines(version: DatasetVersion) -> Iterator[bytes]:
    """Yield every example of a frozen version, with its frozen gold, in the version's order."""
    return native_lines(Selection(version.dataset, version), Outcome())


class _ToolTexts(dict[UUID, str]):
    """The text of tool lists, by id."""

    def __init__(self) -> None:
        super().__init__()
        self.specs = ToolLists()

    def __missing__(self, pk: UUID) -> str:
        if len(self) >= ToolLists.KEPT:
            self.clear()
        text = exact([spec.to_document() for spec in self.specs[pk]])
        self[pk] = text
        return text


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format: its name, what people call it, what it holds, and how it is written.

    `write` yields the file and counts in the outcome as it goes. `says_all`: it has a form for everything, so that
    there is nothing to tell of what was left out.
    """

    name: str
    title: str
    holds: str
    write: Callable[[Selection, Outcome], Iterator[bytes]]
    ending: str = ".jsonl"
    content_type: str = JSON_LINES
    says_all: bool = True
    # How to install what it needs; empty where that is there.
    missing: Callable[[], str] = str

    def response(self, selection: Selection) -> StreamingHttpResponse:
        """Return the file, written while it is sent; its name is made of slugs and numbers."""
        return StreamingHttpResponse(
            self.write(selection, Outcome()),
            content_type=self.content_type,
            headers={"Content-Disposition": f'attachment; filename="{self.file_name(selection)}"'},
        )

    def file_name(self, selection: Selection) -> str:
        """Return what the file is called."""
        return f"{selection.name}{self.ending}"


FORMATS: dict[str, ExportFormat] = {
    each.name: each
    for each in (
        ExportFormat("jsonl", "JSON Lines", "everything; imported again it is the same", native_lines),
        ExportFormat(
            "csv", "CSV", "an example a row, for spreadsheets", example_table, ending=".csv", content_type="text/csv"
        ),
        ExportFormat(
            "labels_csv",
            "CSV of labels",
            "a label a row, of examples that are resolved",
            label_table,
            ending="-labels.csv",
            content_type="text/csv",
        ),
        ExportFormat(
            "parquet",
            "Parquet",
            "an example a row, for DuckDB, pandas and others",
            example_parquet,
            ending=".parquet",
            content_type=PARQUET,
            missing=missing_package,
        ),
        ExportFormat(
            "labels_parquet",
            "Parquet of labels",
            "a label a row, of examples that are resolved",
            label_parquet,
            ending="-labels.parquet",
            content_type=PARQUET,
            missing=missing_package,
        ),
        ExportFormat(
            "bfcl",
            "Berkeley Function-Calling Leaderboard",
            "question and answer files in a zip",
            bfcl_zip,
            ending="-bfcl.zip",
            content_type="application/zip",
            says_all=False,
        ),
        ExportFormat(
            "openai_chat",
            "OpenAI chat, for fine-tuning",
            "messages and tools, with the one answer expected",
            openai_chat_lines,
            ending="-openai.jsonl",
            says_all=False,
        ),
        ExportFormat(
            "langsmith",
            "LangSmith dataset",
            "inputs, outputs and metadata",
            langsmith_lines,
            ending="-langsmith.jsonl",
        ),
    )
}


def format_named(name: str) -> ExportFormat:
    """Return a format by its name. Raises InvalidDocument where it is none, or needs a package that is missing."""
    if name not in FORMATS:
        raise InvalidDocument.at("/format", f"must be one of {', '.join(FORMATS)}")
    if missing := FORMATS[name].missing():
        raise InvalidDocument.at("/format", missing)
    return FORMATS[name]
