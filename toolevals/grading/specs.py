"""Tool specs in the formats people have them in, turned into ours: JSON Schema 2020-12, with every loss named.

- `native`: `{"name", "description", "input_schema", ...}`, as in `schemas/tool.v1.json`.
- `openai`: `{"type": "function", "function": {"name", "description", "parameters"}}`, the same without the inner
  object, and the older `{"name", "description", "parameters"}`.
- `bfcl`: the older OpenAI form with the Berkeley Function-Calling Leaderboard's pseudo-types.

A document is a list of these, one of them, or an object with the list under `tools` or `functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.conformance import schema_problems
from toolevals.grading.documents import problems_in
from toolevals.grading.problems import InvalidDocument, Problem, pointer_to
from toolevals.grading.subschemas import without_refused_patterns
from toolevals.grading.values import ToolSpec

FORMATS = ("native", "openai", "bfcl")

# The leaderboard's types, in Python's, Java's and JavaScript's words. None admits every value: the leaderboard lets
# gold of any type stand for "any".
BFCL_TYPES: Mapping[str, str | None] = {
    "string": "string",
    "integer": "integer",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
    "number": "number",
    "null": "null",
    "dict": "object",
    "HashMap": "object",
    "Hashtable": "object",
    "float": "number",
    "double": "number",
    "tuple": "array",
    "list": "array",
    "Array": "array",
    "ArrayList": "array",
    "Queue": "array",
    "Stack": "array",
    "char": "string",
    "String": "string",
    "byte": "integer",
    "short": "integer",
    "long": "integer",
    "Bigint": "integer",
    "Boolean": "boolean",
    "any": None,
    "": "string",
}


@dataclass(frozen=True, slots=True)
class ReadTools:
    """The tools of a document, what could not be carried over (pointers into the document), and its format."""

    tools: list[ToolSpec]
    losses: list[Problem]
    format: str


Losses = list[Problem]


def read_tools(document: Any, *, format: str = "auto") -> ReadTools:  # noqa: A002 (the word of the interface)
    """Read tool specs; `format` is one of FORMATS, or "auto" to tell it from the first tool.

    Raises InvalidDocument where a tool or its schema is bad, or two tools share a name.
    """
    entries = _entries(document)
    name = _detect(entries) if format == "auto" else format
    if name not in _READERS:
        raise InvalidDocument.at("", f"{name} is no format of tool specs: take one of {', '.join(FORMATS)}")
    tools: dict[str, ToolSpec] = {}
    losses: Losses = []
    problems: list[Problem] = []
    for where, entry in entries:
        try:
            tool, lost = _read_one(entry, name)
        except InvalidDocument as error:
            problems.extend(error.below(where).problems)
            continue
        if tool.name in tools:
            problems.append(Problem(where, f"a second tool is called {tool.name}"))
        tools[tool.name] = tool
        losses.extend(loss.below(where) for loss in lost)
    if problems:
        raise InvalidDocument(problems)
    return ReadTools(list(tools.values()), losses, name)


def _entries(document: Any) -> list[tuple[str, Any]]:
    if isinstance(document, list):
        return [(f"/{place}", entry) for place, entry in enumerate(document)]
    if isinstance(document, dict):
        for key in ("tools", "functions"):
            if isinstance(document.get(key), list):
                return [(f"/{key}/{place}", entry) for place, entry in enumerate(document[key])]
        if "name" in document or "function" in document:
            return [("", document)]
    raise InvalidDocument.at("", "is neither a list of tools nor an object with a list under tools or functions")


def _detect(entries: list[tuple[str, Any]]) -> str:
    entry = entries[0][1] if entries else None
    if not isinstance(entry, dict) or "input_schema" in entry:
        return "native"
    if "function" in entry or "type" in entry:
        return "openai"
    parameters = entry.get("parameters")
    return "bfcl" if isinstance(parameters, dict) and parameters.get("type") == "dict" else "openai"


def _read_one(entry: Any, format_name: str) -> tuple[ToolSpec, Losses]:
    if not isinstance(entry, dict):
        raise InvalidDocument.at("", "is not an object")
    native, losses, schema_at = _READERS[format_name](entry)
    if problems := problems_in(native, "tool"):
        raise InvalidDocument(_moved(problem, schema_at) for problem in problems)
    schema, unchecked = without_refused_patterns(native["input_schema"])
    if problems := schema_problems(schema):
        raise InvalidDocument(problem.below(schema_at) for problem in problems)
    tool = ToolSpec.from_document({**native, "input_schema": schema})
    return tool, losses + [loss.below(schema_at) for loss in unchecked]


def _moved(problem: Problem, schema_at: str) -> Problem:
    """Point into the document as it came, where the schema bears another name."""
    inside = problem.pointer.removeprefix("/input_schema")
    if inside != problem.pointer:
        return Problem(schema_at + inside, problem.message)
    return problem.below(schema_at.rpartition("/")[0])


def _native(entry: dict[str, Any]) -> tuple[dict[str, Any], Losses, str]:
    return entry, [], "/input_schema"


def _openai(entry: dict[str, Any]) -> tuple[dict[str, Any], Losses, str]:
    losses: Losses = []
    if entry.get("type", "function") != "function":
        raise InvalidDocument.at("/type", f"{entry['type']!r} is no function: hosted tools have no schema to check")
    inner, root = (entry["function"], "/function") if "function" in entry else (entry, "")
    if not isinstance(inner, dict):
        raise InvalidDocument.at(root, "is not an object")
    parameters = inner.get("parameters")
    schema = {"type": "object", "properties": {}} if parameters is None else parameters
    known = {"type", "function", "name", "description", "parameters", "strict"}
    losses.extend(Problem(f"{root}{pointer_to([key])}", "is not carried over") for key in inner if key not in known)
    native = {"name": inner.get("name"), "description": inner.get("description") or "", "input_schema": schema}
    return native, losses, f"{root}/parameters"


def _bfcl(entry: dict[str, Any]) -> tuple[dict[str, Any], Losses, str]:
    losses: Losses = []
    schema = bfcl_schema(entry.get("parameters", {"type": "dict", "properties": {}}), losses)
    native = {"name": entry.get("name"), "description": entry.get("description") or "", "input_schema": schema}
    return native, [loss.below("/parameters") for loss in losses], "/parameters"


def bfcl_schema(schema: Any, losses: Losses, pointer: str = "") -> Any:
    """Return a leaderboard schema as JSON Schema, adding to `losses` what it cannot say."""
    if not isinstance(schema, dict):
        return schema
    converted: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword == "type":
            _bfcl_type(value, converted, losses, f"{pointer}/type")
        elif keyword == "properties" and isinstance(value, dict):
            converted[keyword] = {
                name: bfcl_schema(member, losses, f"{pointer}/properties{pointer_to([name])}")
                for name, member in value.items()
            }
        elif keyword in {"items", "additionalProperties"}:
            converted[keyword] = bfcl_schema(value, losses, f"{pointer}/{keyword}")
        elif keyword == "optional" or (keyword == "required" and not isinstance(value, list)):
            losses.append(Problem(f"{pointer}/{keyword}", "is no keyword of JSON Schema"))
        else:
            converted[keyword] = value
    return converted


def _bfcl_type(value: Any, converted: dict[str, Any], losses: Losses, pointer: str) -> None:
    if value not in BFCL_TYPES:
        losses.append(Problem(pointer, f"{value!r} is no known type: every value is admitted"))
    elif (known := BFCL_TYPES[value]) is not None:
        converted["type"] = known


_READERS: dict[str, Callable[[dict[str, Any]], tuple[dict[str, Any], Losses, str]]] = {
    "native": _native,
    "openai": _openai,
    "bfcl": _bfcl,
}
