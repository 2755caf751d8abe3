"""Holds a model's text while it is read: every reader moves forward, and what is searched in vain is not again.

Arguments that arrive as text get the types that the offered tool's schema names, as servers of models do.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN, call_of, printable
from toolevals.grading.reading.parsing.python_calls import UnreadableCallError, calls_in_python
from toolevals.grading.values import Call, MalformedCall, ToolCall, ToolSpec
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

_MOST_SCHEMAS: Final = 200
_NOTHING: Final = object()


def typed_arguments(given: Mapping[str, str], name: str, offered: Offered) -> JsonObject:
    """Return arguments by their texts: as the tool's schema types them, and as JSON where no schema says."""
    tool = offered.find(name)
    root = tool.input_schema if tool is not None else {}
    properties = root.get("properties")
    fields = properties if isinstance(properties, dict) else {}
    return {key: typed(text, fields.get(key), root) for key, text in given.items()}


def typed(text: str, schema: object, root: JsonMapping) -> Any:
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


def part_of(schema: object, key: str) -> Any:
    """Return the schema of the value under a key, or of an item; None where none says."""
    if not isinstance(schema, dict):
        return None
    properties, items = schema.get("properties"), schema.get("items")
    found = properties.get(key) if isinstance(properties, dict) else None
    return items if found is None and key == "item" else found


def _types(schema: object, root: JsonMapping) -> set[str]:
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


def _at(root: JsonMapping, reference: str) -> Any:
    value: JsonValue = root
    for key in reference[2:].split("/"):
        value = value.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value


def _type_of(value: object) -> str:
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


# The calls that stand at a marker and where reading goes on.
Found: TypeAlias = tuple[tuple[Call, ...], int]

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"\s*")
_LEVELS: Final = re.compile(r"[./\-:]")
# What no one offers as a tool and everyone writes in code.
_CODE: Final = frozenset(dir(builtins)) | {"console", "document", "main", "printf", "require", "window"}


class Offered:
    """The tools that a model was offered, by name; `known` is False where no one says which."""

    def __init__(self, tools: Iterable[ToolSpec] | None) -> None:
        self.known = tools is not None
        self._tools = {tool.name: tool for tool in tools or ()}
        self._alike = {_alike(name): tool for name, tool in self._tools.items()}

    def find(self, name: str) -> ToolSpec | None:
        """Return the tool of this name, or of one that differs in case and separators alone; None without any."""
        return self._tools.get(name) or self._alike.get(_alike(name.removeprefix("functions.")))

    def has(self, name: str | None) -> bool:
        """Tell whether a tool may be meant: it is offered, or, where no one says what is, it is no word of code."""
        if name is None:
            return not self.known
        if not self.known:
            return name.split(".")[0] not in _CODE
        return self.find(name) is not None


def _alike(name: str) -> str:
    return _LEVELS.sub("_", name).casefold()


class Source:
    """A text and the tools that were offered."""

    def __init__(self, text: str, offered: Offered) -> None:
        self.text = text
        self.offered = offered
        self._absent: set[str] = set()
        # How many characters may still be read in vain: the cost stays linear.
        self._characters = 16 * len(text) + 1_000

    def skip(self, place: int) -> int:
        """Return the place behind white space."""
        found = _SPACE.match(self.text, place)
        return found.end() if found else place

    def search(self, pattern: re.Pattern[str], place: int) -> re.Match[str] | None:
        """Return the next match. What is not found once is not there later, and is not searched again."""
        if pattern.pattern in self._absent:
            return None
        found = pattern.search(self.text, place)
        if found is None:
            self._absent.add(pattern.pattern)
        return found

    def json_end(self, place: int) -> int | None:
        """Return where the JSON value ends that begins here; None where none does, or too much was read in vain."""
        if self._characters <= 0 or self.text[place : place + 1] not in {"{", "["}:
            return None
        try:
            _, end = _DECODER.raw_decode(self.text, place)
        except json.JSONDecodeError as error:
            self._characters -= error.pos - place
        except (ValueError, RecursionError):
            self._characters -= len(self.text) - place
        else:
            return end
        return None

    def json_problem(self, place: int) -> str:
        """Return why no JSON value can be read here."""
        if not self.text[place : place + 1].strip():
            return "the text ends within this call"
        try:
            load_json(self.text[place : place + LONGEST_SHOWN])
        except InvalidDocument as error:
            return str(error)
        return "not JSON"

    def malformed(self, reason: str, start: int, name: str | None = None) -> MalformedCall:
        """Return the call that begins here and cannot be read."""
        return MalformedCall(reason, None, printable(self.text[start : start + LONGEST_SHOWN]), name)

    def json_call(self, name: str, place: int, start: int, identifier: str | None = None) -> Found:
        """Return the call of this tool whose arguments are the JSON object here; nothing at all is no arguments."""
        end = self.json_end(place)
        if end is None:
            if self.text[place : place + 1] in {"{", "["}:
                return (self.malformed(f"the arguments: {self.json_problem(place)}", start, name or None),), place
            return (self.malformed("no arguments in JSON follow the tool's name", start, name or None),), place
        return (call_of(name, self.text[place:end], identifier),), end


Reader: TypeAlias = Callable[[Source, re.Match[str]], Found]


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A form of calls. `marker` is the source of an expression that begins one; `models` write it so, as `example`."""

    name: str
    models: str
    marker: str
    read: Reader
    example: str
