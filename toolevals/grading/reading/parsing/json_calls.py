"""Reads calls written as JSON: `{"name", "arguments"}` and its relatives."""

from __future__ import annotations

from toolevals.grading.values import Call, MalformedCall, ToolCall
from toolevals.grading.values.canonical import shown
from toolevals.grading.values.documents import MAX_BYTES, MAX_READ_DEPTH, UNSURE, load_json, read_quickly
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject, JsonValue

ARGUMENT_KEYS = ("arguments", "parameters", "input", "args")
LONGEST_SHOWN = 2_000
# The commonest form has no key beside these.
_PLAIN = frozenset({"name", "arguments", "id"})


def call_in(item: object) -> Call:
    """Read one structured call: `{"name", "arguments"}`, or the OpenAI form with an object under "function".

    Arguments are an object, or JSON text of one; none are none. A tool that takes free text (OpenAI's "custom") has it
    as the argument `input`. Anything else is a MalformedCall.
    """
    if not isinstance(item, dict):
        return MalformedCall("the call is not an object", text=shown(item, LONGEST_SHOWN))
    if len(item) == 2 and type(given := item.get("arguments")) is str and (name := item.get("name")):
        # By far the commonest form, and nearly always good.
        quick = type(name) is str and len(given) <= MAX_BYTES
        value: JsonValue = read_quickly(given, MAX_READ_DEPTH) if quick else UNSURE
        if value is not UNSURE:
            return ToolCall(name, value)
    identifier = identifier_in(item, "id") if "id" in item else None
    if _PLAIN.issuperset(item):
        return call_of(item.get("name"), item.get("arguments"), identifier, shown_as=item)
    if isinstance(malformed := item.get("malformed"), dict):
        return _malformed(item, malformed, identifier)
    if item.get("type") == "custom" and isinstance(custom := item.get("custom"), dict):
        return free_text_call(custom.get("name"), custom.get("input"), identifier)
    function = item.get("function")
    inner = function if isinstance(function, dict) else item
    name = function if isinstance(function, str) else inner.get("name")
    key = next((key for key in ARGUMENT_KEYS if key in inner), None)
    return call_of(name, None if key is None else inner[key], identifier, shown_as=item)


def call_of(name: object, given: object, identifier: str | None, *, shown_as: object = None) -> Call:
    """Return the call of a tool by this name with arguments as given: an object, JSON text of one, or nothing.

    Nothing is null, empty text, or `null` as text: some models write it for a tool without parameters.
    """
    if not isinstance(name, str) or not name:
        return MalformedCall("the call has no name", text=shown(shown_as, LONGEST_SHOWN), id=identifier)
    if given is None or given == "":
        return ToolCall(name, {}, identifier)
    value = given
    if isinstance(given, str):
        if not given.strip():
            return ToolCall(name, {}, identifier)
        try:
            value = load_json(given)
        except InvalidDocument as error:
            text = printable(given[:LONGEST_SHOWN])
            return MalformedCall(f"the arguments: {error}", error.position, text, name, identifier)
    if value is None:
        return ToolCall(name, {}, identifier)
    if not isinstance(value, dict):
        reason = "the arguments are not an object"
        return MalformedCall(reason, text=shown(given, LONGEST_SHOWN), name=name, id=identifier)
    return ToolCall(name, value, identifier)


def free_text_call(name: object, text: object, identifier: str | None) -> Call:
    """Return the call of a tool that takes free text and no named arguments: the text is the argument `input`."""
    return call_of(name, {"input": text}, identifier)


def identifier_in(item: JsonObject, *keys: str) -> str | None:
    """Return the first of these keys that holds an id: text that is not empty, or a number (JSON-RPC's), as text."""
    for key in keys:
        value = item.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return shown(value, 100)
    return None


def looks_like_call(item: object) -> bool:
    """Tell whether a JSON value from running text is meant as a call: it names something and gives arguments."""
    if not isinstance(item, dict) or _describes_tool(item):
        return False
    function = item.get("function")
    if isinstance(function, dict):
        return isinstance(function.get("name"), str)
    named = isinstance(function, str) or isinstance(item.get("name"), str)
    return named and any(key in item for key in ARGUMENT_KEYS)


def describes_tools(value: object) -> bool:
    """Tell whether a JSON value quotes the description of a tool, or of several: its parameters are a schema."""
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(item, dict) and _describes_tool(item) for item in items)


def _describes_tool(item: JsonObject) -> bool:
    inner = item["function"] if isinstance(item.get("function"), dict) else item
    schema = inner.get("parameters")
    return (
        isinstance(schema, dict)
        and schema.get("type") in ("object", "dict")
        and isinstance(schema.get("properties"), dict)
    )


def calls_in_json(value: object) -> tuple[Call, ...] | None:
    """Return the calls of a JSON value from running text; None where it is not meant as calls."""
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    items = value if isinstance(value, list) else [value]
    if not items or not any(looks_like_call(item) for item in items):
        return None
    return tuple(call_in(item) for item in items)


def printable(text: str) -> str:
    """Return text that can be kept: NUL characters and lone surrogates become U+FFFD or `?`."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _malformed(item: JsonObject, malformed: JsonObject, identifier: str | None) -> MalformedCall:
    reason, text, name = malformed.get("reason"), malformed.get("text"), item.get("name")
    position = malformed.get("position")
    return MalformedCall(
        reason if isinstance(reason, str) else "the call cannot be read",
        position if isinstance(position, int) and position >= 0 and not isinstance(position, bool) else None,
        text if isinstance(text, str) else "",
        name if isinstance(name, str) else None,
        identifier,
    )
