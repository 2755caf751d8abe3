"""Reads conversations in the form of ShareGPT: `{"conversations": [{"from", "value"}], "tools", "system"}`.

Hermes function calling v1, ToolACE, APIGen-MT, LLaMA-Factory and ToolLLaMA share it. Calls are text of the assistant,
or turns of their own from `function_call`. Tools stand under `tools`, or as a list in the system prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.conversations import calls_said, conversations_read, decisions_in
from toolevals.grading.files.evaluation_files.dataset_tools import dataset_tools
from toolevals.grading.files.evaluation_files.entries import external_id
from toolevals.grading.files.evaluation_files.entry import Entry, Found, keys, unknown_keys
from toolevals.grading.files.evaluation_files.tables import cell_value
from toolevals.grading.reading.parsing.json_calls import calls_in_json
from toolevals.grading.values import Message, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

ROLES: Mapping[str, str] = {
    "system": "system", "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
    "model": "assistant", "chatgpt": "assistant", "function_call": "assistant", "tool_call": "assistant",
    "observation": "tool", "tool": "tool", "function": "tool", "function_response": "tool", "tool_response": "tool",
}  # fmt: skip
_CALLS = ("function_call", "tool_call")
_KNOWN = keys("id conversations tools functions system category subcategory task source")
_RESULT = re.compile(r"\s*<tool_response>\s*(.*?)\s*</tool_response>\s*", re.DOTALL)
_LIST = re.compile(r"\[\s*\{\s*[\"']")


def detect(item: object) -> str | None:
    """Return why an item is such a conversation; None where it is none."""
    turns = item.get("conversations") if isinstance(item, Mapping) else None
    first = turns[0] if isinstance(turns, list) and turns else None
    is_turn = isinstance(first, Mapping) and "from" in first and "value" in first
    return "entries have conversations whose turns have from and value" if is_turn else None


def read(document: object, decision: str = "first") -> Iterator[Found]:
    """Yield the decisions of each conversation."""
    yield from conversations_read(document, decision, _row)


def _row(item: JsonMapping, decision: str) -> Iterator[Entry]:
    turns = item.get("conversations")
    if not isinstance(turns, list) or not turns:
        raise InvalidDocument.at("/conversations", "is not a list of turns")
    tools, losses = _tools(item, turns)
    offered = list(tools or ())
    system = item.get("system")
    messages = [Message("system", system)] if isinstance(system, str) and system.strip() else []
    shift = len(messages)
    messages += [_message(turn, offered, f"/conversations/{place}") for place, turn in enumerate(turns)]
    identifier = item.get("id")
    if isinstance(identifier, str) and len(identifier) > _LONGEST:
        identifier = None
    name = external_id(identifier, "conversation", [item.get("conversations"), item.get("tools")])
    try:
        yield from decisions_in(
            name,
            messages,
            decision,
            "/conversations",
            tools=tools,
            losses=(*losses, *unknown_keys(item, _KNOWN)),
        )
    except InvalidDocument as error:
        raise _moved(error, shift) from None


# ToolLLaMA's ids are whole questions.
_LONGEST = 190


def _moved(error: InvalidDocument, shift: int) -> InvalidDocument:
    """Count places without the system prompt that stands outside of the list."""
    found = [re.fullmatch(r"/conversations/(\d+)(.*)", each.pointer, re.DOTALL) for each in error.problems]
    return InvalidDocument(
        Problem(f"/conversations/{int(match[1]) - shift}{match[2]}", each.message) if match else each
        for match, each in zip(found, error.problems, strict=True)
    )


def _message(turn: object, tools: list[ToolSpec], pointer: str) -> Message:
    if not isinstance(turn, Mapping) or not isinstance(turn.get("value"), str):
        raise InvalidDocument.at(pointer, "is not a turn with from and value")
    speaker, text = turn.get("from"), turn["value"]
    role = ROLES.get(speaker) if isinstance(speaker, str) else None
    if role is None:
        raise InvalidDocument.at(f"{pointer}/from", f"{speaker!r} is not a known speaker: there are {', '.join(ROLES)}")
    if role == "tool":
        found = _RESULT.fullmatch(text)
        return Message("tool", found[1] if found else text)
    if role != "assistant":
        return Message(role, text)
    if speaker in _CALLS:
        calls = calls_in_json(cell_value(text))
        if not calls:
            raise InvalidDocument.at(f"{pointer}/value", "is not a call with name and arguments, as its speaker says")
        return Message("assistant", None, calls)
    calls = calls_said(text, tools, f"{pointer}/value")
    return Message("assistant", None if calls else text, calls)


def _tools(item: JsonMapping, turns: list[Any]) -> tuple[list[ToolSpec] | None, tuple[Problem, ...]]:
    """Return the tools under `tools`, else those that the system prompt lists; None where there are none."""
    key = next((key for key in ("tools", "functions") if item.get(key) not in (None, "", [], "[]")), None)
    if key is not None:
        return dataset_tools(item[key], f"/{key}")
    prompts = [("/system", item.get("system"))]
    prompts += [("/conversations/0/value", turns[0].get("value"))] if isinstance(turns[0], Mapping) else []
    for pointer, prompt in prompts:
        if isinstance(prompt, str) and (listed := tools_listed(prompt)) is not None:
            return dataset_tools(listed, pointer)
    return None, ()


def tools_listed(prompt: str) -> list[Any] | None:
    """Return the first list of tools that stands in a prompt, as JSON or as Python writes it."""
    for found in _LIST.finditer(prompt):
        end = _end(prompt, found.start())
        listed = cell_value(prompt[found.start() : end]) if end else None
        if isinstance(listed, list) and listed and all(isinstance(each, Mapping) for each in listed):
            first = listed[0]
            if first.keys() & {"name", "api_name", "function"}:
                return listed
    return None


def _end(text: str, start: int) -> int:
    """Return where the list ends that begins at `start`; 0 where it has no end. Brackets inside texts do not count."""
    depth, quote, place = 0, "", start
    while place < len(text):
        letter = text[place]
        if quote:
            if letter == "\\":
                place += 1
            elif letter == quote:
                quote = ""
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return 0
