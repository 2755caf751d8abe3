"""Gives arguments that arrive as text the types that the offered tool's schema names, as servers of models do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolevals.grading.reading.parsing.python_calls import UnreadableCallError, calls_in_python
from toolevals.grading.reading.parsing.text_formats.source import Offered
from toolevals.grading.values import ToolCall
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

_MOST_SCHEMAS: Final = 200
_NOTHING: Final = object()


def typed_arguments(given: Mapping[str, str], name: str, offered: Offered) -> dict[str, Any]:
    """Return arguments by their texts: as the tool's schema types them, and as JSON where no schema says."""
    tool = offered.find(name)
    root = tool.input_schema if tool is not None else {}
    properties = root.get("properties")
    fields = properties if isinstance(properties, dict) else {}
    return {key: typed(text, fields.get(key), root) for key, text in given.items()}


def typed(text: str, schema: Any, root: Mapping[str, Any]) -> Any:
    """Return the value of a text: text where the schema wants text, else the JSON or Python literal that it is.

    Where the schema allows text and more, a literal of an allowed type goes before. Text that is no literal stays text.
    """
    types = _types(schema, root)
    if types == {"string"}:
        return text
    value = _literal(text)
    if value is _NOTHING:
        return text
    if types and "string" in types and _type_of(value) not in types:
        return text
    return value


def unwrapped(text: str) -> str:
    """Return a value's text without the line breaks that set it apart: white space on one side alone belongs to it."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "\n" else text


def part_of(schema: Any, key: str) -> Any:
    """Return the schema of the value under a key, or of an item; None where none says."""
    if not isinstance(schema, dict):
        return None
    properties, items = schema.get("properties"), schema.get("items")
    found = properties.get(key) if isinstance(properties, dict) else None
    return items if found is None and key == "item" else found


def _types(schema: Any, root: Mapping[str, Any]) -> set[str]:
    """Return the types that a schema names, itself or in its alternatives."""
    found: set[str] = set()
    waiting = [schema]
    for _ in range(_MOST_SCHEMAS):
        if not waiting:
            break
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        kind = part.get("type")
        found.update(each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str))
        if kind is None:
            values = part.get("enum", [part["const"]] if "const" in part else [])
            found.update(_type_of(value) for value in (values if isinstance(values, list) else [])[:_MOST_SCHEMAS])
            for key in ("anyOf", "oneOf", "allOf"):
                several = part.get(key)
                waiting.extend(several if isinstance(several, list) else [])
            if isinstance(reference := part.get("$ref"), str) and reference.startswith("#/"):
                waiting.append(_at(root, reference))
    if "number" in found:
        found.add("integer")
    return found


def _at(root: Mapping[str, Any], reference: str) -> Any:
    value: Any = root
    for key in reference[2:].split("/"):
        value = value.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _literal(text: str) -> Any:
    """Return the JSON value of a text, or the value of Python's literal; _NOTHING where it is neither."""
    try:
        return load_json(text.strip())
    except InvalidDocument:
        pass
    try:
        (call,) = calls_in_python(f"f(a={text.strip()})") or (None,)
    except (UnreadableCallError, ValueError):
        return _NOTHING
    return call.arguments["a"] if isinstance(call, ToolCall) and call.arguments.keys() == {"a"} else _NOTHING
