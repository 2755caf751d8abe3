"""Tell what formats without ids and without our expectations share: names by content, calls as expectations, tools.

Reads ideal answers: calls as JSON or as text of one, or words that are expected in the answer.

Joins the question rows and answer rows of benchmarks, which publish them in files of their own, by their id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolevals.grading.files.evaluation_files.dataset_tools import dataset_tools
from toolevals.grading.files.evaluation_files.entry import Entry, Found, items_at, object_at
from toolevals.grading.files.evaluation_files.tables import cell_value
from toolevals.grading.reading.examples import STRATA, ExampleRow, tools_in_row
from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.reading.parsing.json_calls import calls_in_json
from toolevals.grading.values import Call, CallExpectation, Expectation, MalformedCall, ToolSpec, Trajectory
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

LONGEST_ID = 200
WORDS_ONLY = "is words and no call: taken as the answer that is expected without a call"


def entry(value: object) -> JsonMapping:
    """Return an entry of a file, which must be an object. Raises InvalidDocument."""
    if not isinstance(value, Mapping):
        raise InvalidDocument.at("", "is not an object")
    return value


def external_id(value: object, prefix: str, content: object) -> str:
    """Return an entry's own id (text or a number), or where it has none a name made of its content."""
    if value is None:
        return f"{prefix}-{digest(content)[:16]}"
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not 0 < len(text) <= LONGEST_ID:
        raise InvalidDocument.at("/id", f"must be text of 1 to {LONGEST_ID} characters, or a number")
    return text


def messages_at(value: object, pointer: str) -> list[JsonObject]:
    """Return a list of messages, each an object with a role. Raises InvalidDocument."""
    if not isinstance(value, list) or not value:
        raise InvalidDocument.at(pointer, "is not a list of messages")
    for place, message in enumerate(value):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str) or not message["role"]:
            raise InvalidDocument.at(f"{pointer}/{place}", "is not a message with a role")
    return value


def tools_at(row: JsonMapping, *keys: str) -> tuple[list[ToolSpec] | str | None, tuple[Problem, ...]]:
    """Return the tools under the first of these keys that the row has, and what was lost of them.

    A list may be text of JSON. Types that only Python has, such as `float`, are turned and named as lost.
    """
    key = next((key for key in keys if row.get(key) not in (None, [])), None)
    if key is None:
        return None, ()
    given = cell_value(row[key])
    try:
        return tools_in_row(given, f"/{key}")
    except InvalidDocument as error:
        try:
            tools, losses = dataset_tools(given, f"/{key}")
        except InvalidDocument:
            raise error from None
        told = (Problem(each.pointer, f"{each.message}: read as far as it can be") for each in error.problems)
        return tools, (*told, *losses)


def expected_calls(calls: Sequence[Call], pointer: str) -> Expectation:
    """Return the expectation of just these calls with just these values; several may come in any order.

    Raises InvalidDocument where one of them cannot be read.
    """
    return accepted([calls], pointer)


def accepted(alternatives: Iterable[Sequence[Call]], pointer: str) -> Expectation:
    """Return the expectation that any of several lists of calls meets."""
    return Expectation("calls", alternatives=tuple(_trajectory(calls, pointer) for calls in alternatives))


def expected_words(words: Sequence[str]) -> Expectation:
    """Return the expectation of an answer without a call that holds one of these texts."""
    if len(words) == 1:
        return Expectation("no_call", answer={"contains": [words[0]]})
    pattern = "|".join(re.escape(each) for each in words)
    return Expectation("no_call", answer={"pattern": f"(?:{pattern})"})


def strata_in(metadata: JsonMapping) -> dict[str, str]:
    """Return what metadata says of the strata that there are; the rest of it is not carried over."""
    return {
        name: str(metadata[name])
        for name in STRATA
        if isinstance(metadata.get(name), str | int | float) and str(metadata[name])
    }


def _trajectory(calls: Sequence[Call], pointer: str) -> Trajectory:
    expected = tuple(_expected(call, f"{pointer}/{place}") for place, call in enumerate(calls))
    if len(expected) == 1:
        return Trajectory(ordered=expected, additional_calls=False)
    return Trajectory(unordered=expected, additional_calls=False)


def _expected(call: Call, pointer: str) -> CallExpectation:
    if isinstance(call, MalformedCall):
        raise InvalidDocument.at(pointer, call.reason)
    arguments = {name: Exact(value) for name, value in call.arguments.items()}
    return CallExpectation(call.name, arguments, additional_arguments=False)


def ideal_expectation(ideal: object, pointer: str = "/ideal") -> tuple[Expectation, bool]:
    """Return what an ideal answer, or any of a list of them, expects, and whether that is words without a call.

    A list of calls is one answer that makes all of them. Raises InvalidDocument where calls and words are mixed.
    """
    if not isinstance(ideal, str) and (calls := calls_in_json(ideal)) is not None:
        return accepted([calls], pointer), False
    several = ideal if isinstance(ideal, list) else [ideal]
    read = [_answer(each, f"{pointer}/{place}" if several is ideal else pointer) for place, each in enumerate(several)]
    calls_only = [calls for calls in read if not isinstance(calls, str)]
    if len(calls_only) == len(read):
        return accepted(calls_only, pointer), False
    if calls_only:
        raise InvalidDocument.at(pointer, "some of the answers are calls and some are words: an example expects one")
    return expected_words([text for text in read if isinstance(text, str)]), True


def _answer(value: object, pointer: str) -> Sequence[Call] | str:
    if isinstance(value, str) and value:
        return calls_in_text(value) or value
    calls = None if isinstance(value, str) else calls_in_json(value)
    if not calls:
        raise InvalidDocument.at(pointer, "is neither text nor a call with name and arguments")
    return calls


NO_ANSWERS = Problem(
    "", "no answer of this id is in the file, so it is to be labelled: put the answer rows into the same file"
)


def is_answer(item: object) -> bool:
    """Tell whether an item is an answer row: an id and a ground truth without a question."""
    return isinstance(item, Mapping) and {"id", "ground_truth"} <= item.keys() and "question" not in item


def first_question(document: object) -> Any:
    """Return the first row of a document that is no answer; None where there is none."""
    items = document if isinstance(document, list) else [document]
    return next((item for item in items if not is_answer(item)), None)


def answered_examples(
    document: object, read: Callable[[JsonMapping, JsonMapping | None], ExampleRow]
) -> Iterator[Found]:
    """Yield each question as `read` makes an example of it, with its answer where the file holds it."""
    for pointer, item, answer in _joined(document):
        try:
            row = read(object_at(item), answer)
        except InvalidDocument as error:
            yield pointer, error
        else:
            yield pointer, Entry(row, losses=row.losses)


def _joined(document: object) -> Iterator[tuple[str, Any, JsonMapping | None]]:
    """Yield pointer, question row and its answer row, if the file has it.

    Raises InvalidDocument where an answer comes twice, or has no question.
    """
    answers: dict[str, tuple[str, JsonMapping]] = {}
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
