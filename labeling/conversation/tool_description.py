"""Show a tool next to an example: its description, its parameters, and its unchanged schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.conversation.lines import pretty
from toolevals.grading.json_schema.conformance import why_unused
from toolevals.grading.values import ToolSpec
from toolevals.json_types import JsonMapping

MAX_DEPTH = 4
MAX_CHOICES = 12


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its name with those that it is within, its type, and what is said about it."""

    name: str
    kind: str
    required: bool
    description: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class ToolReading:
    """A tool's name, description, parameters, and its input schema as JSON. `unused` says why no one checks by it."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    schema: str
    unused: str = ""


def tool_reading(spec: ToolSpec) -> ToolReading:
    """Return how a tool is read."""
    parameters = tuple(_parameters(spec.input_schema, "", 0))
    return ToolReading(spec.name, spec.description, parameters, pretty(spec.input_schema), why_unused(spec))


def _parameters(schema: Any, within: str, depth: int) -> Iterator[Parameter]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or depth == MAX_DEPTH:
        return
    required = schema.get("required")
    wanted = set(map(str, required)) if isinstance(required, list) else set()
    for name, inner in properties.items():
        said = inner if isinstance(inner, Mapping) else {}
        default = json.dumps(said["default"], ensure_ascii=False) if "default" in said else ""
        path = f"{within}{name}"
        yield Parameter(path, _kind(said), name in wanted, str(said.get("description") or ""), default)
        yield from _parameters(said, f"{path}.", depth + 1)
        yield from _parameters(said.get("items"), f"{path}[].", depth + 1)


def _kind(schema: JsonMapping) -> str:
    """Return a type in words, such as "string, date", "one of …" or "array of integer"."""
    choices = schema.get("enum")
    if isinstance(choices, list):
        shown = [json.dumps(choice, ensure_ascii=False) for choice in choices[:MAX_CHOICES]]
        return f"one of {', '.join(shown)}{', …' if len(choices) > MAX_CHOICES else ''}"
    named = schema.get("type")
    words = " or ".join(map(str, named)) if isinstance(named, list) else str(named or "any")
    items = schema.get("items")
    if words == "array" and isinstance(items, Mapping):
        words = f"array of {_kind(items)}"
    return f"{words}, {schema['format']}" if isinstance(schema.get("format"), str) else words
