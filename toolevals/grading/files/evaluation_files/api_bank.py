"""Reads API-Bank: rows of `instruction`, `input` and what the model should write, as tests and training have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.content import example_of
from toolevals.grading.files.evaluation_files.conversations import expectation_of_turn
from toolevals.grading.files.evaluation_files.dataset_tools import dataset_tools, objects_in
from toolevals.grading.files.evaluation_files.entry import Entry, Found, entries_read, items_at, keys, unknown_keys
from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.values import Call, Message
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

_KNOWN = keys("id file instruction input output expected_output api_id sample_id")
_EXPECTED = ("expected_output", "output")
_REQUEST = "API-Request:"
_SPEAKER = re.compile(rf"^(User|AI|{_REQUEST[:-1]}):[ \t]*", re.MULTILINE)
# What the prompt ends with.
_ASKS = re.compile(r"(?<!\s)\s*Generate (?:API Request|AI Response|response)(?:\s*:)?\s*$", re.IGNORECASE)


def detect(item: object) -> str | None:
    """Return why an item is such a row; None where it is none."""
    if not isinstance(item, Mapping) or not isinstance(item.get("input"), str):
        return None
    instruction = item.get("instruction")
    key = next((key for key in _EXPECTED if isinstance(item.get(key), str)), None)
    if key is None or not isinstance(instruction, str) or "API" not in instruction:
        return None
    is_dialogue = _SPEAKER.search(item["input"]) is not None
    return f"entries have instruction about APIs, input with speakers and {key}" if is_dialogue else None


def read(document: object) -> Iterator[Found]:
    """Yield each turn that the assistant is asked for."""
    yield from entries_read(items_at(document), _row)


def _row(item: JsonMapping) -> Entry:
    said, instruction = item.get("input"), item.get("instruction")
    key = next((key for key in _EXPECTED if isinstance(item.get(key), str)), None)
    if not isinstance(said, str) or not isinstance(instruction, str) or key is None:
        raise InvalidDocument.at("", "has not instruction, input and expected_output as text")
    listed = [
        each
        for each in objects_in(instruction.rpartition("API descriptions:")[2])
        if "name" in each or "apiCode" in each
    ]
    tools, losses = dataset_tools([_tool(each) for each in listed], "/instruction")
    messages = list(_messages(_ASKS.sub("", said)))
    expected = item[key].strip()
    calls = _calls(expected.removeprefix(_REQUEST), f"/{key}") if expected.startswith((_REQUEST, "[")) else ()
    losses = (*losses, *unknown_keys(item, _KNOWN))
    content = {"messages": [message.to_document() for message in messages]}
    name = f"{item['file']}-{item['id']}" if isinstance(item.get("file"), str) and "id" in item else None
    row = example_of(
        name, "api-bank", content, tools=tools or None, expectation=expectation_of_turn(calls, f"/{key}"), losses=losses
    )
    return Entry(row, losses=losses)


def _tool(each: JsonMapping) -> JsonObject:
    """Return a description as a tool: all of its input parameters are needed, as its evaluation checks them."""
    given = each.get("input_parameters", each.get("parameters"))
    parameters = given if isinstance(given, Mapping) else {}
    return {"name": each.get("name", each.get("apiCode")), "description": str(each.get("description") or ""),
            "parameters": dict(parameters)}  # fmt: skip


def _messages(said: str) -> Iterator[Message]:
    found = list(_SPEAKER.finditer(said))
    if not found or said[: found[0].start()].strip():
        raise InvalidDocument.at("/input", "does not start with User: or AI:")
    for place, start in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(said)
        text = said[start.end() : end].strip()
        if start[1] == "User":
            yield Message("user", text)
        elif start[1] == "AI":
            yield Message("assistant", text)
        else:
            request, _, result = text.partition("->")
            yield Message("assistant", None, _calls(request, "/input"))
            if result:
                yield Message("tool", result)


def _calls(text: str, pointer: str) -> tuple[Call, ...]:
    calls = calls_in_text(text.strip())
    if not calls:
        raise InvalidDocument.at(pointer, f"{text.strip()[:60]!r} is not a request that can be read")
    return calls
