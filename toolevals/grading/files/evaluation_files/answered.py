"""Joins the question rows and answer rows of benchmarks, which publish them in files of their own, by their id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.entry import Entry, Found, items_at, object_at
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.problems import InvalidDocument, Problem

NO_ANSWERS = Problem(
    "", "no answer of this id is in the file, so it is to be labelled: put the answer rows into the same file"
)


def is_answer(item: Any) -> bool:
    """Tell whether an item is an answer row: an id and a ground truth without a question."""
    return isinstance(item, Mapping) and {"id", "ground_truth"} <= item.keys() and "question" not in item


def first_question(document: Any) -> Any:
    """Return the first row of a document that is no answer; None where there is none."""
    items = document if isinstance(document, list) else [document]
    return next((item for item in items if not is_answer(item)), None)


def answered_examples(
    document: Any, read: Callable[[Mapping[str, Any], Mapping[str, Any] | None], ExampleRow]
) -> Iterator[Found]:
    """Yield each question as `read` makes an example of it, with its answer where the file holds it."""
    for pointer, item, answer in _joined(document):
        try:
            row = read(object_at(item), answer)
        except InvalidDocument as error:
            yield pointer, error
        else:
            yield pointer, Entry(row, losses=row.losses)


def _joined(document: Any) -> Iterator[tuple[str, Any, Mapping[str, Any] | None]]:
    """Yield pointer, question row and its answer row, if the file has it.

    Raises InvalidDocument where an answer comes twice, or has no question.
    """
    answers: dict[str, tuple[str, Mapping[str, Any]]] = {}
    questions: list[tuple[str, Any]] = []
    for pointer, item in items_at(document):
        if not is_answer(item):
            questions.append((pointer, item))
        elif str(item["id"]) in answers:
            raise InvalidDocument.at(f"{pointer}/id", f"{item['id']} is answered twice")
        else:
            answers[str(item["id"])] = (pointer, item)
    for pointer, item in questions:
        name = str(item.get("id")) if isinstance(item, Mapping) else ""
        yield pointer, item, answers.pop(name, ("", None))[1]
    for pointer, item in answers.values():
        raise InvalidDocument.at(f"{pointer}/id", f"{item['id']} is an answer to no question of this file")
