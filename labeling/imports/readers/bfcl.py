"""Read the Berkeley Function-Calling Leaderboard: questions with their answers, joined by `toolevals import bfcl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labeling.imports.readers.settings import Settings
from toolevals.grading.files.evaluation_files.bfcl_rows import example_of_turns
from toolevals.grading.reading.bfcl import CATEGORIES, bfcl_example
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.problems import InvalidDocument, Problem


def bfcl_row(row: Any, settings: Settings) -> ExampleRow:
    """Return `{"question_row", "answer_row", "category"}` as an example that remembers it. Raises InvalidDocument."""
    if not isinstance(row, Mapping) or not isinstance(row.get("question_row"), Mapping):
        alone = isinstance(row, Mapping) and {"question", "ground_truth"} & row.keys()
        hint = ": put the leaderboard's files, questions and answers, into one zip" if alone else ""
        raise InvalidDocument.at("/question_row", f"must be the row of a question file{hint}")
    category = row.get("category")
    if isinstance(category, str) and is_of_turns(category):
        return _of_turns(row, category)
    if category not in CATEGORIES:
        raise InvalidDocument.at("/category", f"must be one of {', '.join(sorted(CATEGORIES))}")
    try:
        example = bfcl_example(row["question_row"], row.get("answer_row"), row["category"])
    except InvalidDocument as error:
        raise InvalidDocument(_within_line(problem) for problem in error.problems) from None
    return replace(example, origin={key: row.get(key) for key in ("category", "question_row", "answer_row")})


def is_of_turns(category: str) -> bool:
    """Tell whether a category is of conversations of several turns, the first of which is read."""
    return category.startswith("multi_turn_")


def _of_turns(row: Mapping[str, Any], category: str) -> ExampleRow:
    question, answer = row["question_row"], row.get("answer_row")
    if not isinstance(name := question.get("id"), str):
        raise InvalidDocument.at("/question_row/id", "is not text")
    try:
        return example_of_turns(question, name, category, answer if isinstance(answer, Mapping) else None)
    except InvalidDocument as error:
        raise InvalidDocument(_within_line(problem) for problem in error.problems) from None


def _within_line(problem: Problem) -> Problem:
    """Return a problem of one of a line's two rows as seen from the line."""
    return problem.below("/answer_row" if problem.pointer.startswith("/ground_truth") else "/question_row")
