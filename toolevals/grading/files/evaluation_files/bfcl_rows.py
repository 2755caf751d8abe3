"""Reads the leaderboard's files as published, without a zip: question rows, with answer rows in the same file or none.

Of a conversation of several turns the first is an example: what follows depends on results that no file holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolevals.grading.files.evaluation_files.content import WORDS_EXPECTED, expected_answer
from toolevals.grading.files.evaluation_files.entries import NO_ANSWERS, answered_examples, first_question
from toolevals.grading.files.evaluation_files.entry import Found
from toolevals.grading.reading.bfcl import CATEGORIES, bfcl_example
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.values import CallExpectation, Expectation, MalformedCall, Trajectory
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

_NUMBER = re.compile(r"_\d+(?:-.*)?$")
_NAME = re.compile(r"\s*([A-Za-z_][\w.]*)\(")
_WITHOUT_ANSWER = ("irrelevance", "live_irrelevance", "live_relevance")


def detect(document: object) -> str | None:
    """Return why a document holds such rows; None where it holds none."""
    item = first_question(document)
    if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
        return None
    turns = item.get("question")
    if not isinstance(turns, list) or not turns or not isinstance(turns[0], list):
        return None
    key = next((key for key in ("function", "involved_classes") if isinstance(item.get(key), list)), None)
    return None if key is None else f"entries have id, question and {key}"


def read(document: object) -> Iterator[Found]:
    """Yield each question as an example, with its answer where the file holds it."""
    return answered_examples(document, _row)


def _row(item: JsonMapping, answer: JsonMapping | None) -> ExampleRow:
    if not isinstance(name := item.get("id"), str):
        raise InvalidDocument.at("/id", "is not text")
    category = _NUMBER.sub("", name)
    if isinstance(item.get("involved_classes"), list):
        return example_of_turns(item, name, category, answer)
    if category in CATEGORIES and (answer is not None or category in _WITHOUT_ANSWER):
        return bfcl_example(item, answer, category)
    # Read like one that needs no answer, which is then taken away.
    row = bfcl_example(item, None, _WITHOUT_ANSWER[0])
    return replace(row, expectation=None, strata={"category": category}, losses=(*row.losses, NO_ANSWERS))


def example_of_turns(item: JsonMapping, name: str, category: str, answer: JsonMapping | None) -> ExampleRow:
    """Return the first turn of a conversation of several as an example. Raises InvalidDocument."""
    turns = item.get("question")
    if not isinstance(turns, list) or not turns or not isinstance(turns[0], list) or not turns[0]:
        raise InvalidDocument.at("/question", "is not a list of turns, each a list of messages")
    classes = ", ".join(map(str, item.get("involved_classes") or ()))
    losses = [Problem("/involved_classes", f"its tools are in other files ({classes}): the dataset offers them")]
    if len(turns) > 1:
        losses.append(Problem("/question/1", f"{len(turns) - 1:,} × later turns, which need results: left out"))
    expectation = None
    if answer is None:
        losses.append(NO_ANSWERS)
    else:
        expectation = _of_first_turn(answer.get("ground_truth"), losses)
    return ExampleRow(
        external_id=name,
        input={"messages": list(turns[0])},
        expectation=expectation,
        strata={"category": category},
        losses=tuple(losses),
    )


def _of_first_turn(truth: Any, losses: list[Problem]) -> Expectation | None:
    """Return the expectation of the calls of the first turn, in their order, or of an answer; None of anything else.

    Others may be called besides.
    """
    first = truth[0] if isinstance(truth, list) and truth else None
    if isinstance(first, str):
        losses.append(Problem("/ground_truth", WORDS_EXPECTED))
        return expected_answer([each for each in truth if isinstance(each, str)])
    if not isinstance(first, list) or not all(isinstance(each, str) for each in first):
        losses.append(Problem("/ground_truth", "is neither calls by turn nor words: the example is to be labelled"))
        return None
    losses.append(Problem("/ground_truth", "the leaderboard checks the end state, here its calls are expected"))
    if not first:
        return Expectation("no_call")
    calls = tuple(_call(text, f"/ground_truth/0/{place}", losses) for place, text in enumerate(first))
    return Expectation("calls", alternatives=(Trajectory(ordered=calls),))


def _call(text: str, pointer: str, losses: list[Problem]) -> CallExpectation:
    calls = calls_in_text(text)
    if len(calls) == 1 and not isinstance(calls[0], MalformedCall):
        return CallExpectation(calls[0].name, {key: Exact(value) for key, value in calls[0].arguments.items()})
    if (found := _NAME.match(text)) is None:
        raise InvalidDocument.at(pointer, f"{text[:60]!r} is not a call")
    losses.append(Problem(pointer, "has arguments without names: any will do"))
    return CallExpectation(found[1])
