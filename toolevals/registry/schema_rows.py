"""Shows a tool's JSON Schema as rows for people: one for each argument, nested ones by their path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 6
MAX_LISTED = 12
LIMITS = (
    ("minimum", "≥ {}"),
    ("maximum", "≤ {}"),
    ("exclusiveMinimum", "> {}"),
    ("exclusiveMaximum", "< {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} entries"),
    ("maxItems", "at most {} entries"),
    ("pattern", "matches {}"),
    ("format", "{}"),
)


@dataclass(frozen=True, slots=True)
class SchemaRow:
    """One argument: "pickup.date", its type in words, whether it is required, what else holds, what it means."""

    path: str
    kind: str
    required: bool
    limits: str
    description: str


def schema_rows(schema: Mapping[str, Any]) -> list[SchemaRow]:
    """Return the rows of an input schema, in its order."""
    return list(_rows(schema, "", 0))


def _rows(schema: Mapping[str, Any], parent: str, depth: int) -> Iterator[SchemaRow]:
    properties = schema.get("properties")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, part in (properties if isinstance(properties, Mapping) else {}).items():
        inner = part if isinstance(part, Mapping) else {}
        path = f"{parent}{name}"
        description = inner.get("description")
        yield SchemaRow(
            path=path,
            kind=kind_words(inner),
            required=name in names,
            limits=_limits(inner),
            description=description if isinstance(description, str) else "",
        )
        if depth < MAX_DEPTH:
            items = inner.get("items")
            yield from _rows(inner, f"{path}.", depth + 1)
            if isinstance(items, Mapping):
                yield from _rows(items, f"{path}[].", depth + 1)


def kind_words(schema: Mapping[str, Any]) -> str:
    """Return a schema's type in words."""
    if "const" in schema:
        return _value(schema["const"])
    allowed = schema.get("enum")
    if isinstance(allowed, list):
        listed = " | ".join(_value(value) for value in allowed[:MAX_LISTED])
        return f"{listed} | …" if len(allowed) > MAX_LISTED else listed
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if isinstance(branches, list):
            return " or ".join(kind_words(branch) for branch in branches if isinstance(branch, Mapping))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(map(str, kind))
    items = schema.get("items")
    if kind == "array" and isinstance(items, Mapping):
        return f"list of {kind_words(items)}"
    return str(kind)


def _limits(schema: Mapping[str, Any]) -> str:
    parts = [words.format(schema[key]) for key, words in LIMITS if key in schema]
    if "default" in schema:
        parts.append(f"default {_value(schema['default'])}")
    return ", ".join(parts)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
