"""The formats that examples are imported from, in one table: how one line becomes an example."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.imports.lines import MAX_LINE_BYTES
from toolevals.grading.bfcl import CATEGORIES, bfcl_example
from toolevals.grading.documents import load_json
from toolevals.grading.examples import ExampleRow, read_example
from toolevals.grading.problems import InvalidDocument, Problem


@dataclass(frozen=True, slots=True)
class Source:
    """A format: what people call it, what one line is, and how it is read (raises InvalidDocument)."""

    name: str
    title: str
    line: str
    read: Callable[[Any], ExampleRow]


def _bfcl_row(row: Any) -> ExampleRow:
    """Read a benchmark's question and its answer, which `toolevals import bfcl` puts on one line."""
    if not isinstance(row, Mapping) or not isinstance(row.get("question_row"), Mapping):
        raise InvalidDocument.at("/question_row", "must be the row of a question file")
    if row.get("category") not in CATEGORIES:
        raise InvalidDocument.at("/category", f"must be one of {', '.join(sorted(CATEGORIES))}")
    try:
        return bfcl_example(row["question_row"], row.get("answer_row"), row["category"])
    except InvalidDocument as error:
        raise InvalidDocument(_within_line(problem) for problem in error.problems) from None


def _within_line(problem: Problem) -> Problem:
    """Return a problem of one of a line's two rows as seen from the line."""
    return problem.below("/answer_row" if problem.pointer.startswith("/ground_truth") else "/question_row")


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source("jsonl", "JSON Lines", "one example, in the plain or the full form", read_example),
        Source(
            "bfcl",
            "Berkeley Function-Calling Leaderboard",
            '{"question_row": {...}, "answer_row": {...} or null, "category": "multiple"}',
            _bfcl_row,
        ),
    )
}


def line_read(source: Source, line: bytes) -> ExampleRow:
    """Return the example that a line holds. Raises InvalidDocument with pointers into the line's document."""
    return source.read(load_json(line, max_bytes=MAX_LINE_BYTES))
