"""Reads the Berkeley Function-Calling Leaderboard's entries as examples.

A question row holds the conversation and the functions; an answer row lists, for every expected call, the values that
are allowed for each parameter, `""` among them where the parameter may be left out. They become matchers under the
profile `bfcl`, with no other argument and no other call allowed. Irrelevance becomes `no_call`, relevance `some_call`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import CallExpectation, Expectation, Trajectory
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, Matcher, OneOf
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

CATEGORIES = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)
# Where they need no answer row.
_NO_CALL = frozenset({"irrelevance", "live_irrelevance"})
_SOME_CALL = frozenset({"live_relevance"})
# Nested objects with more combinations of allowed values than this are matched field by field, first form alone.
_MOST_COMBINATIONS = 64


def bfcl_example(question_row: object, answer_row: object, category: str) -> ExampleRow:
    """Return a question with its answer (None where the category has none) as an example. Raises InvalidDocument."""
    if category not in CATEGORIES:
        raise InvalidDocument.at("", f"{category} is not a category: use one of {', '.join(CATEGORIES)}")
    if not isinstance(question_row, Mapping):
        raise InvalidDocument.at("", "is not an object")
    try:
        read = read_tools(_part(question_row, "function", list), format="bfcl")
    except InvalidDocument as error:
        raise error.below("/function") from None
    return ExampleRow(
        external_id=_part(question_row, "id", str),
        input={"messages": list(_messages(_part(question_row, "question", list)))},
        tools=read.tools,
        expectation=_expectation(answer_row, category),
        strata={"bucket": "no_call" if category in _NO_CALL else "selection", "category": category},
        losses=tuple(loss.below("/function") for loss in read.losses),
    )


def _part(row: JsonMapping, key: str, kind: type) -> Any:
    if not isinstance(value := row.get(key), kind):
        raise InvalidDocument.at(pointer_to([key]), f"is not a {kind.__name__}")
    return value


def _messages(question: list[Any]) -> Iterator[JsonObject]:
    for turn_place, turn in enumerate(question):
        for place, message in enumerate(turn if isinstance(turn, list) else [turn]):
            if not isinstance(message, dict) or not isinstance(message.get("role"), str):
                raise InvalidDocument.at(f"/question/{turn_place}/{place}", "is not a message with a role")
            yield message


def _expectation(answer_row: object, category: str) -> Expectation:
    if category in _NO_CALL:
        return Expectation("no_call")
    if category in _SOME_CALL:
        return Expectation("some_call")
    if not isinstance(answer_row, Mapping):
        raise InvalidDocument.at("", f"{category} needs an answer row")
    calls = _part(answer_row, "ground_truth", list)
    expected = tuple(_call(call, f"/ground_truth/{place}") for place, call in enumerate(calls))
    return Expectation("calls", alternatives=(_trajectory(expected),), profile="bfcl")


def _trajectory(calls: tuple[CallExpectation, ...]) -> Trajectory:
    if len(calls) == 1:
        return Trajectory(ordered=calls, additional_calls=False)
    return Trajectory(unordered=calls, additional_calls=False)


def _call(call: object, pointer: str) -> CallExpectation:
    if not isinstance(call, dict) or len(call) != 1:
        raise InvalidDocument.at(pointer, "is not an object with one function")
    ((name, allowed),) = call.items()
    if not isinstance(allowed, dict):
        raise InvalidDocument.at(pointer + pointer_to([name]), "is not an object of parameters")
    arguments = {}
    for parameter, values in allowed.items():
        if not isinstance(values, list):
            raise InvalidDocument.at(pointer + pointer_to([name, parameter]), "is not a list of allowed values")
        arguments[parameter] = bfcl_matcher(values)
    return CallExpectation(name, arguments, additional_arguments=False)


def bfcl_matcher(allowed: list[Any]) -> Matcher:
    """Return the matcher of a parameter's allowed values, `""` saying that it may be left out.

    An empty text that is next to other text is an allowed value too. An empty list of values, which no answer can
    meet on the leaderboard, is read as the empty list that it was meant to hold.
    """
    optional = "" in allowed
    values = [value for value in allowed if value != ""]
    if not values:
        return Absent() if optional else Exact([], optional=True)
    if optional and any(isinstance(value, str) for value in values):
        values.append("")
    if len(values) == 1:
        return _one(values[0], optional)
    return OneOf(tuple(concrete for value in values for concrete in _concrete(value)), optional=optional)


def _one(value: object, optional: bool) -> Matcher:
    if isinstance(value, dict):
        fields = {name: bfcl_matcher(item) if isinstance(item, list) else Exact(item) for name, item in value.items()}
        return Fields(fields, optional=optional)
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return Items(tuple(_one(item, optional=False) for item in value), optional=optional)
    return Exact(value, optional=optional)


def _concrete(value: object) -> Iterator[Any]:
    """Yield the plain values that a nested form with allowed values stands for."""
    if not isinstance(value, dict):
        yield value
        return
    combinations: list[JsonObject] = [{}]
    for name, allowed in value.items():
        choices = allowed if isinstance(allowed, list) else [allowed]
        combinations = [
            made if choice == "" else {**made, name: choice} for made in combinations for choice in choices
        ][:_MOST_COMBINATIONS]
    yield from combinations
