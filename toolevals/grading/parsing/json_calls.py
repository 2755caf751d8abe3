"""Calls written as JSON: `{"name", "arguments"}` and its relatives."""

from __future__ import annotations

from typing import Any

from toolevals.grading.canonical import shown
from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Call, MalformedCall, ToolCall

ARGUMENT_KEYS = ("arguments", "parameters", "input", "args")
LONGEST_SHOWN = 2_000


def call_in(item: Any) -> Call:
    """Read one structured call: `{"name", "arguments"}`, or the OpenAI form with an object under "function".

    Arguments are an object, or JSON text of one; none are none. Anything else is a MalformedCall.
    """
    if not isinstance(item, dict):
        return MalformedCall("the call is not an object", text=shown(item, LONGEST_SHOWN))
    if isinstance(malformed := item.get("malformed"), dict):
        return MalformedCall(str(malformed.get("reason", "")), text=str(malformed.get("text", "")))
    function = item.get("function")
    inner = function if isinstance(function, dict) else item
    name = function if isinstance(function, str) else inner.get("name")
    if not isinstance(name, str) or not name:
        return MalformedCall("the call has no name", text=shown(item, LONGEST_SHOWN))
    identifier = item.get("id")
    key = next((key for key in ARGUMENT_KEYS if key in inner), None)
    given = None if key is None else inner[key]
    read = _arguments(given, name)
    if isinstance(read, MalformedCall):
        return read
    return ToolCall(name, read, identifier if isinstance(identifier, str) else None)


def looks_like_call(item: Any) -> bool:
    """Tell whether a JSON value from running text is meant as a call: it names something and gives arguments."""
    if not isinstance(item, dict):
        return False
    function = item.get("function")
    if isinstance(function, dict):
        return isinstance(function.get("name"), str)
    named = isinstance(function, str) or isinstance(item.get("name"), str)
    return named and any(key in item for key in ARGUMENT_KEYS)


def calls_in_json(value: Any) -> tuple[Call, ...] | None:
    """Return the calls of a JSON value from running text; None where it is not meant as calls."""
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    items = value if isinstance(value, list) else [value]
    if not items or not any(looks_like_call(item) for item in items):
        return None
    return tuple(call_in(item) for item in items)


def _arguments(given: Any, name: str) -> dict[str, Any] | MalformedCall:
    if given is None:
        return {}
    if isinstance(given, str):
        if not given.strip():
            return {}
        try:
            given_value = load_json(given)
        except InvalidDocument as error:
            return MalformedCall(f"the arguments: {error}", error.position, given[:LONGEST_SHOWN], name)
    else:
        given_value = given
    if not isinstance(given_value, dict):
        return MalformedCall("the arguments are not an object", text=shown(given, LONGEST_SHOWN), name=name)
    return given_value
