"""Reads ACEBench: question rows with the conversation as text, and answer rows in the same file or none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolevals.grading.files.evaluation_files.dataset_tools import dataset_tools
from toolevals.grading.files.evaluation_files.entries import NO_ANSWERS, accepted, answered_examples, first_question
from toolevals.grading.files.evaluation_files.entry import Found, keys, unknown_keys
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import Expectation, ToolCall
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_KNOWN = keys("id question function time profile path")
_SPEAKER = re.compile(r"^(user|system): ?", re.MULTILINE)
_ROLES = {"user": "user", "system": "assistant"}
_NUMBER = re.compile(r"(?:_\d+)+$")
_SPECIAL, _AGENT = "special_", "agent_"


def detect(document: object) -> str | None:
    """Return why a document holds such rows; None where it holds none."""
    item = first_question(document)
    if not isinstance(item, Mapping) or "id" not in item or not isinstance(item.get("question"), str):
        return None
    return "entries have id, question and function" if isinstance(item.get("function"), list) else None


def read(document: object) -> Iterator[Found]:
    """Yield each question as an example, with its answer where the file holds it."""
    return answered_examples(document, _row)


def _row(item: JsonMapping, answer: JsonMapping | None) -> ExampleRow:
    name, question = item.get("id"), item.get("question")
    if not isinstance(name, str) or not isinstance(question, str) or not question.strip():
        raise InvalidDocument.at("/question" if isinstance(name, str) else "/id", "is not text")
    tools, lost = dataset_tools(item.get("function"), "/function")
    losses = [*lost, *unknown_keys(item, _KNOWN)]
    category = _NUMBER.sub("", name)
    expectation = None
    if answer is None:
        losses.append(NO_ANSWERS)
    elif category.startswith(_AGENT):
        losses.append(Problem("", "its answer is an end state, which nothing here checks: label it"))
    else:
        expectation = _expected(answer.get("ground_truth"), category, [tool.name for tool in tools])
    said = {key: item[key] for key in ("time", "profile") if item.get(key)}
    content = {"messages": list(_messages(question))} | ({"context": said} if said else {})
    return ExampleRow(name, content, tools, expectation, "", {"category": category}, tuple(losses))


def _messages(question: str) -> Iterator[JsonObject]:
    found = list(_SPEAKER.finditer(question))
    if not found or found[0].start():
        yield {"role": "user", "content": question.strip()}
        return
    for place, start in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(question)
        yield {"role": _ROLES[start[1]], "content": question[start.end() : end].strip()}


def _expected(truth: Any, category: str, names: Sequence[str]) -> Expectation:
    """Return what a ground truth expects; where an argument is missing or wrong, or no tool fits, it is no call."""
    if category.startswith(_SPECIAL):
        return Expectation("no_call")
    several = truth if isinstance(truth, list) else [truth]
    if not several or not all(isinstance(each, Mapping) and each for each in several):
        raise InvalidDocument.at("/ground_truth", "is not an object of functions with their arguments")
    return accepted([[_call(name, given, names) for name, given in each.items()] for each in several], "/ground_truth")


def _call(name: str, given: object, names: Sequence[str]) -> ToolCall:
    if not isinstance(given, Mapping):
        raise InvalidDocument.at(f"/ground_truth/{name}", "is not an object of arguments")
    # A second call of the same function is told by a number behind its name.
    plain = _NUMBER.sub("", name)
    return ToolCall(plain if name not in names and plain in names else name, dict(given))
