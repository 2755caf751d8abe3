"""Reads xLAM function calling (60k): `{"id", "query", "tools", "answers"}`, the lists as JSON text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.content import example_of
from toolevals.grading.files.evaluation_files.conversations import expectation_of_turn
from toolevals.grading.files.evaluation_files.dataset_tools import dataset_tools
from toolevals.grading.files.evaluation_files.entry import Entry, Found, entries_read, items_at, keys, unknown_keys
from toolevals.grading.files.evaluation_files.tables import cell_value
from toolevals.grading.reading.parsing.json_calls import calls_in_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping

_KNOWN = keys("id query tools answers")


def detect(item: object) -> str | None:
    """Return why an item is a row; None where it is none."""
    if isinstance(item, Mapping) and {"query", "tools", "answers"} <= item.keys():
        return "entries have query, tools and answers"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield each query with the calls that answer it."""
    yield from entries_read(items_at(document), _row)


def _row(item: JsonMapping) -> Entry:
    query = item.get("query")
    if not isinstance(query, str) or not query.strip():
        raise InvalidDocument.at("/query", "is not text")
    tools, losses = dataset_tools(item.get("tools"), "/tools")
    answers = cell_value(item.get("answers"))
    calls = () if answers == [] else calls_in_json(answers)
    if calls is None:
        raise InvalidDocument.at("/answers", "is not a list of calls with name and arguments")
    losses = (*losses, *unknown_keys(item, _KNOWN))
    content = {"messages": [{"role": "user", "content": query}]}
    expectation = expectation_of_turn(calls, "/answers")
    row = example_of(item.get("id"), "xlam", content, tools=tools, expectation=expectation, losses=losses)
    return Entry(row, losses=losses)
