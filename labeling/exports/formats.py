"""List the formats that examples are exported to, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.http import StreamingHttpResponse

from labeling.exports.bfcl import bfcl_zip
from labeling.exports.langsmith import langsmith_lines
from labeling.exports.native import native_lines
from labeling.exports.openai_chat import openai_chat_lines
from labeling.exports.outcome import Outcome
from labeling.exports.selection import Selection
from labeling.exports.table import example_table, label_table
from toolevals.grading.values.problems import InvalidDocument

JSON_LINES = "application/jsonl"


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
    """Return a format by its name. Raises InvalidDocument."""
    if name not in FORMATS:
        raise InvalidDocument.at("/format", f"must be one of {', '.join(FORMATS)}")
    return FORMATS[name]
