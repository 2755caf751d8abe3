"""Reads Seal-Tools: `{"id", "query", "calling": [{"api", "parameters", "responses"}]}`, tools are in a file apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import example_of
from toolevals.grading.files.evaluation_files.entry import Entry, Found, entries_read, items_at, keys, unknown_keys
from toolevals.grading.values import CallExpectation, Expectation, Trajectory
from toolevals.grading.values.matchers import Exact, KeyOnly
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_KNOWN = keys("id query calling")
_REFERENCE = re.compile(r"API_call_\d+")


def detect(item: object) -> str | None:
    """Return why an item is such a row; None where it is none."""
    calling = item.get("calling") if isinstance(item, Mapping) and "query" in item else None
    first = calling[0] if isinstance(calling, list) and calling else None
    return "entries have query and calling" if isinstance(first, Mapping) and "api" in first else None


def read(document: object) -> Iterator[Found]:
    """Yield each query with its calls."""
    yield from entries_read(items_at(document), _row)


def _row(item: JsonMapping) -> Entry:
    query, calling = item.get("query"), item.get("calling")
    if not isinstance(query, str) or not query.strip():
        raise InvalidDocument.at("/query", "is not text")
    if not isinstance(calling, list):
        raise InvalidDocument.at("/calling", "is not a list of calls")
    losses = list(unknown_keys(item, _KNOWN))
    calls = tuple(_call(call, f"/calling/{place}", losses) for place, call in enumerate(calling))
    expectation = Expectation("no_call")
    if calls:
        expected = Trajectory(ordered=calls) if len(calls) == 1 else Trajectory(unordered=calls)
        alternatives = (Trajectory(expected.ordered, expected.unordered, additional_calls=False),)
        expectation = Expectation("calls", alternatives=alternatives)
    content = {"messages": [{"role": "user", "content": query}]}
    row = example_of(item.get("id"), "seal", content, expectation=expectation, losses=tuple(losses))
    return Entry(row, losses=row.losses)


def _call(call: Any, pointer: str, losses: list[Problem]) -> CallExpectation:
    given = call.get("parameters") if isinstance(call, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(call.get("api"), str):
        raise InvalidDocument.at(pointer, "is not a call with api and parameters")
    arguments: JsonObject = {}
    for name, value in given.items():
        if isinstance(value, str) and _REFERENCE.search(value):
            losses.append(Problem(f"{pointer}/parameters/{name}", "is a result of an earlier call: any value will do"))
            arguments[name] = KeyOnly()
        else:
            arguments[name] = Exact(value)
    return CallExpectation(call["api"], arguments, additional_arguments=False)
