"""Reads a JSON value at a mark as calls, under whatever keys models write name and arguments.

Reads a piece of text that may be calls as a whole: JSON first, then Python's call syntax.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from toolevals.grading.reading.parsing.json_calls import (
    ARGUMENT_KEYS,
    LONGEST_SHOWN,
    call_in,
    describes_tools,
    looks_like_call,
    printable,
)
from toolevals.grading.reading.parsing.python_calls import UnreadableCallError, calls_in_python
from toolevals.grading.reading.parsing.text_formats.source import Found, Source
from toolevals.grading.values import Call, MalformedCall
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

_NAMES: Final = ("tool_name", "tool", "recipient_name", "action", "function_name")
_ARGUMENTS: Final = (*ARGUMENT_KEYS, "action_input", "tool_input", "tool_arguments")
_LISTS: Final = ("tool_calls", "tool_uses", "calls")
# How Command R calls that it calls nothing, and how frames of agents call the final answer.
_NO_TOOLS: Final = frozenset({"directly_answer", "directly-answer", "final answer", "final_answer"})


def calls_of(value: object) -> tuple[Call, ...] | None:
    """Return the calls of a JSON value; None where it is not meant as calls."""
    if isinstance(value, dict):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), value)
    items = [_plain(item) for item in (value if isinstance(value, list) else [value])]
    if not items or not any(looks_like_call(item) for item in items):
        return None
    return tuple(call_in(item) for item in items if not _is_answer(item))


def json_calls_at(source: Source, place: int, start: int) -> Found:
    """Return the calls of the JSON values that follow here, and a malformed one where there is none to read."""
    calls: list[Call] = []
    end = place
    while (stop := source.json_end(end)) is not None:
        calls += _read(source, end, stop, start)
        following = source.skip(stop)
        following = source.skip(following + 1) if source.text[following : following + 1] in {",", ";"} else following
        if source.text[following : following + 1] not in {"{", "["}:
            return tuple(calls), stop
        end = following
    if source.text[end : end + 1] in {"{", "["} or not calls:
        calls.append(source.malformed(source.json_problem(end), start))
    return tuple(calls), end


def _read(source: Source, place: int, end: int, start: int) -> tuple[Call, ...]:
    try:
        value = load_json(source.text[place:end])
    except InvalidDocument as error:
        return (source.malformed(str(error), start),)
    if value == []:
        return ()
    if isinstance(value, list) and value and all(_is_nested(item) for item in value):
        value = [{"name": name, "arguments": item[name]} for item in value for name in item]
    read = calls_of(value)
    return (source.malformed("not a call", start),) if read is None else read


def _is_nested(item: object) -> bool:
    """Tell whether an item is a name with its arguments, as Apertus writes calls."""
    return (
        isinstance(item, dict)
        and len(item) == 1
        and isinstance(next(iter(item.values())), dict)
        and ("function" not in item)
    )


def _plain(item: object) -> Any:
    """Return a call under the keys of frames of agents and of Cohere as one of name and arguments."""
    if not isinstance(item, dict) or "name" in item or "function" in item:
        return item
    name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), None)
    key = next((key for key in _ARGUMENTS if key in item), None)
    if name is None or key is None:
        return item
    identifier = item.get("tool_call_id", item.get("id"))
    made = {"name": name.removeprefix("functions."), "arguments": item[key]}
    return made if identifier is None else made | {"id": identifier}


def _is_answer(item: object) -> bool:
    return isinstance(item, dict) and isinstance(name := item.get("name"), str) and name.casefold() in _NO_TOOLS


_DECODER: Final = json.JSONDecoder()
_JSON_ATTEMPT: Final = re.compile(r'\s*\[?\s*\{\s*"(?:name|function|type|tool_calls|id)"\s*:')
_PYTHON_ATTEMPT: Final = re.compile(r"[\[(]*\s*[A-Za-z_][\w.-]*\s?\(\s*(?:[A-Za-z_]\w*\s*=|\)|\*)")
_ARGUMENTS_KEY: Final = re.compile(r'"(?:arguments|parameters|input|args)"\s*:')


def calls_in_piece(text: str) -> tuple[Call, ...] | None:
    """Return the calls that a piece of text consists of; None where it is something else."""
    for line_by_line in (False, True):
        if (calls := _in_json(text, line_by_line)) is not None:
            return calls
    return python_or_none(text)


def python_or_none(text: str) -> tuple[Call, ...] | None:
    """Return the calls in Python's syntax that a text consists of; None where it is something else."""
    if "(" not in text:
        return None
    try:
        return calls_in_python(text)
    except UnreadableCallError:
        return None


def attempt_in(text: str, *, marked: bool) -> MalformedCall | None:
    """Return what was meant as a call and cannot be read; None where nothing was meant.

    `marked` says that a mark of calls stands before it.
    """
    if _JSON_ATTEMPT.match(text) and (marked or _ARGUMENTS_KEY.search(text)):
        return malformed_json(text)
    return malformed_python(text) if _PYTHON_ATTEMPT.match(text) else None


def malformed_python(text: str) -> MalformedCall | None:
    """Return the call in Python's syntax that begins here and cannot be read; None where it can."""
    try:
        calls_in_python(text)
    except UnreadableCallError as error:
        return MalformedCall(error.reason, error.position, printable(text[:LONGEST_SHOWN]))
    return None


def malformed_json(text: str) -> MalformedCall | None:
    """Return the call that begins here and cannot be read; None where a tool's description stands here."""
    try:
        _, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        end = len(text)
    try:
        value = load_json(text[:end])
    except InvalidDocument as error:
        return MalformedCall(str(error), error.position, printable(text[:LONGEST_SHOWN]))
    if describes_tools(value):
        return None
    return MalformedCall("not a call", 0, printable(text[:LONGEST_SHOWN]))


def _in_json(text: str, line_by_line: bool) -> tuple[Call, ...] | None:
    if not text.startswith(("{", "[")):
        return None
    texts = [line for line in text.splitlines() if line.strip()] if line_by_line else [text]
    try:
        read = [calls_of(load_json(each)) for each in texts]
    except InvalidDocument:
        return None
    return None if None in read else tuple(call for calls in read if calls is not None for call in calls)
