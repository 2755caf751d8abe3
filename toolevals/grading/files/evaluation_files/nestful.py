"""Reads samples of NESTFUL: sequences of calls that refer to the results of earlier ones as `$var_1.result$`.

Source: IBM/NESTFUL and the card of ibm-research/nestful: `sample_id`, `input`, `output`, `tools`, `gold_answer`, where
lists may be JSON text; in the first version without ids and tools, with `var_result` as a last call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import content_of, example_of, json_in
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    entries_read,
    items_at,
    keys,
    object_at,
    unknown_keys,
)
from toolevals.grading.json_schema.subschemas import with_subschemas
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec, Trajectory
from toolevals.grading.values.canonical import shown
from toolevals.grading.values.matchers import Exact, Fields, Items, KeyOnly, Matcher, ResultOf
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

_SAMPLE = keys("sample_id input output tools gold_answer")
_CALL = keys("name label arguments")
_TOOL = keys("name description parameters output_parameter output_parameters")
# What is to be told at the end, written as a call.
_RESULT = "var_result"
_REFERENCE = re.compile(r"\$([A-Za-z_]\w*)((?:\.[^$]*)?)\$")
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_TYPES = {"int": "integer", "float": "number", "str": "string", "bool": "boolean", "list": "array", "dict": "object"}
_JSON_TYPES = frozenset({"integer", "number", "string", "boolean", "array", "object", "null"})
_LONGEST_ANSWER = 2_000


def detect(item: object) -> str | None:
    """Return why an item is a sample; None where it is none."""
    if not isinstance(item, Mapping) or not isinstance(item.get("input"), str):
        return None
    calls = json_in(item.get("output"))
    first = calls[0] if isinstance(calls, list) and calls else None
    if isinstance(first, Mapping) and {"name", "arguments", "label"} <= first.keys():
        return "entries have input and output, whose calls have labels that others refer to"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield an example for each sample: its calls are expected in any order, references make the order."""
    yield from entries_read(items_at(document), _sample)


def _sample(item: JsonMapping) -> Entry:
    losses: list[Problem] = []
    expected = _Calls(losses).read(json_in(item.get("output")))
    tools = _tools(json_in(item["tools"]), losses) if item.get("tools") else None
    rationale = ""
    if "gold_answer" in item:
        rationale = f"The answer there: {shown(item['gold_answer'], _LONGEST_ANSWER)}"
        losses.append(Problem("/gold_answer", "is kept as the rationale: in an answer it may be written otherwise"))
    losses += unknown_keys(item, _SAMPLE)
    expectation = Expectation("calls", alternatives=(Trajectory(unordered=expected, additional_calls=False),))
    row = example_of(
        item.get("sample_id"),
        "nestful",
        content_of(item.get("input")),
        tools=tools,
        expectation=Expectation.from_document(expectation.to_document()) if expected else Expectation("no_call"),
        rationale=rationale,
        losses=tuple(losses),
    )
    return Entry(row, losses=tuple(losses))


class _Calls:
    """Reads the calls of a sample one after the other; `losses` grows by what has no form."""

    def __init__(self, losses: list[Problem]) -> None:
        self._losses = losses
        # By label: the number of the call, from 1.
        self._numbers: dict[str, int] = {}

    def read(self, output: object) -> tuple[CallExpectation, ...]:
        if not isinstance(output, list):
            raise InvalidDocument.at("/output", "is not a list of calls")
        calls: list[CallExpectation] = []
        for place, each in enumerate(output):
            where = f"/output/{place}"
            call = object_at(each, where)
            name, arguments = call.get("name"), call.get("arguments") or {}
            if name == _RESULT:
                self._losses.append(Problem(where, "holds the final answer and is not a call: left out"))
                continue
            if not isinstance(name, str) or not name:
                raise InvalidDocument.at(f"{where}/name", "is not a name of a tool")
            members = object_at(arguments, f"{where}/arguments")
            matchers = {
                key: self._matcher(value, f"{where}/arguments{pointer_to([key])}") for key, value in members.items()
            }
            calls.append(CallExpectation(name, matchers, additional_arguments=False))
            self._losses += unknown_keys(call, _CALL, where)
            if isinstance(label := call.get("label"), str):
                self._numbers[label.strip("$")] = len(calls)
        return tuple(calls)

    def _matcher(self, value: object, pointer: str) -> Matcher:
        if isinstance(value, str):
            return self._text(value, pointer)
        if isinstance(value, Mapping) and _refers(value):
            return Fields({key: self._matcher(each, pointer + pointer_to([key])) for key, each in value.items()})
        if isinstance(value, list) and _refers(value):
            return Items(tuple(self._matcher(each, f"{pointer}/{place}") for place, each in enumerate(value)))
        return Exact(value)

    def _text(self, text: str, pointer: str) -> Matcher:
        found = _REFERENCE.search(text)
        if found is None or not (found[1] in self._numbers or found[1].startswith("var")):
            return Exact(text)
        if found[0] != text:
            self._losses.append(Problem(pointer, "is a reference inside a text: any value will do"))
        elif found[1] not in self._numbers:
            self._losses.append(Problem(pointer, f"{text} refers to no earlier call: any value will do"))
        elif (place := _pointer(found[2])) is None:
            self._losses.append(Problem(pointer, f"{text} names no place in a result: any value will do"))
        else:
            return ResultOf(self._numbers[found[1]], place)
        return KeyOnly()


def _refers(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_refers, value.values()))
    if isinstance(value, list):
        return any(map(_refers, value))
    return isinstance(value, str) and _REFERENCE.search(value) is not None


def _pointer(path: str) -> str | None:
    """Return `.items[0].id` as a JSON pointer, None where it is no such path; nothing is the whole result."""
    steps, end = [], 0
    for found in _STEP.finditer(path):
        if found.start() != end:
            return None
        steps.append(found[1] if found[2] is None else found[2])
        end = found.end()
    return pointer_to(steps) if end == len(path) else None


def _tools(listed: object, losses: list[Problem]) -> list[ToolSpec]:
    if not isinstance(listed, list):
        raise InvalidDocument.at("/tools", "is not a list of tools")
    native = [_tool(object_at(each, f"/tools/{place}"), f"/tools/{place}", losses) for place, each in enumerate(listed)]
    try:
        found = read_tools(native, format="native")
    except InvalidDocument as error:
        raise error.below("/tools") from None
    losses += (loss.below("/tools") for loss in found.losses)
    return found.tools


def _tool(tool: JsonMapping, pointer: str, losses: list[Problem]) -> JsonObject:
    losses += unknown_keys(tool, _TOOL, pointer)
    native = {
        "name": tool.get("name"),
        "description": tool.get("description") or "",
        "input_schema": _parameters(tool.get("parameters"), f"{pointer}/parameters", losses),
    }
    key = "output_parameters" if "output_parameters" in tool else "output_parameter"
    if tool.get(key):
        native["output_schema"] = _parameters(tool[key], f"{pointer}/{key}", losses)
    return native


def _parameters(given: object, pointer: str, losses: list[Problem]) -> JsonObject:
    """Return the schema of parameters, which may be a schema or its properties alone."""
    parameters = dict(object_at(given or {}, pointer))
    if not isinstance(parameters.get("properties"), Mapping):
        parameters = {"properties": parameters}
    schema: JsonObject = _schema({"type": "object", **parameters}, pointer, losses)
    return schema


def _schema(given: object, pointer: str, losses: list[Problem]) -> Any:
    """Return a schema with the types of JSON for those of Python ("int or float")."""
    if not isinstance(given, dict):
        return given
    known = dict(given)
    if isinstance(words := given.get("type"), str):
        types = list(dict.fromkeys(_TYPES.get(word, word) for word in re.split(r"\s+or\s+|\s*\|\s*", words.strip())))
        if {"integer", "number"} <= {*types}:
            types.remove("integer")
        if not {*types} <= _JSON_TYPES:
            losses.append(Problem(f"{pointer}/type", f"{words!r} is not a known type: every value is accepted"))
            del known["type"]
        else:
            known["type"] = types[0] if len(types) == 1 else types
    return with_subschemas(known, lambda inside, path: _schema(inside, pointer + pointer_to(path), losses))
