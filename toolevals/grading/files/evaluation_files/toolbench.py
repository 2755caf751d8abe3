"""Reads ToolBench's queries: `{"api_list", "query", "relevant APIs"}`. Which APIs are called is expected, not how."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import example_of
from toolevals.grading.files.evaluation_files.dataset_tools import dataset_tools
from toolevals.grading.files.evaluation_files.entry import Entry, Found, entries_read, items_at, keys, unknown_keys
from toolevals.grading.values import CallExpectation, Expectation, Trajectory
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_KNOWN = keys("api_list query query_id") | {"relevant APIs"}
_OTHERS = re.compile(r"[^a-z0-9]+")
_ANY_ARGUMENTS = Problem("/relevant APIs", "says which APIs are called, and not how: any arguments will do")


def detect(item: object) -> str | None:
    """Return why an item is such a query; None where it is none."""
    is_query = isinstance(item, Mapping) and isinstance(item.get("api_list"), list) and "query" in item
    return "entries have api_list and query" if is_query else None


def read(document: object) -> Iterator[Found]:
    """Yield each query."""
    yield from entries_read(items_at(document), _row)


def _row(item: JsonMapping) -> Entry:
    query, apis = item.get("query"), item.get("api_list")
    if not isinstance(query, str) or not query.strip():
        raise InvalidDocument.at("/query", "is not text")
    if not isinstance(apis, list) or not all(isinstance(each, Mapping) for each in apis):
        raise InvalidDocument.at("/api_list", "is not a list of APIs")
    tools, lost = dataset_tools([_tool(each) for each in apis], "/api_list")
    relevant = item.get("relevant APIs")
    losses = [*lost, *unknown_keys(item, _KNOWN)]
    expectation = None
    if isinstance(relevant, list) and relevant:
        losses.append(_ANY_ARGUMENTS)
        expectation = Expectation("calls", alternatives=(Trajectory(unordered=tuple(_relevant(relevant))),))
    content = {"messages": [{"role": "user", "content": query}]}
    row = example_of(item.get("query_id"), "query", content, tools=tools, expectation=expectation, losses=tuple(losses))
    return Entry(row, losses=row.losses)


def _relevant(relevant: list[Any]) -> Iterator[CallExpectation]:
    for place, each in enumerate(relevant):
        if not isinstance(each, list) or len(each) != 2 or not all(isinstance(part, str) for part in each):
            raise InvalidDocument.at(f"/relevant APIs/{place}", "is not a tool with one of its APIs")
        yield CallExpectation(_name(*each))


def _tool(api: JsonMapping) -> JsonObject:
    needed = [each for each in api.get("required_parameters") or () if isinstance(each, Mapping)]
    optional = [each for each in api.get("optional_parameters") or () if isinstance(each, Mapping)]
    properties = {
        str(each.get("name")): {"type": str(each.get("type") or ""), "description": str(each.get("description") or "")}
        for each in (*needed, *optional)
    }
    required = list(dict.fromkeys(str(each.get("name")) for each in needed))
    schema = {"type": "object", "properties": properties, "required": required}
    name = _name(str(api.get("tool_name") or ""), str(api.get("api_name") or ""))
    return {"name": name, "description": str(api.get("api_description") or "").strip(), "parameters": schema}


def _name(tool: str, api: str) -> str:
    """Return the name under which ToolBench offers an API to a model."""
    return f"{_plain(api)}_for_{_plain(tool)}"


def _plain(text: str) -> str:
    return _OTHERS.sub("_", text.lower()).strip("_")
