"""Turns `nullable`, OpenAPI 3.0's word for "or null", into JSON Schema."""

from __future__ import annotations

from typing import Any

_COMPOSING = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if", "const"})
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated"})


def null_admitted(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that admits what this one admits, and null."""
    kind = schema.get("type")
    if kind is None or not _COMPOSING.isdisjoint(schema):
        annotations = {keyword: value for keyword, value in schema.items() if keyword in _ANNOTATIONS}
        rules = {keyword: value for keyword, value in schema.items() if keyword not in _ANNOTATIONS}
        return {**annotations, "anyOf": [rules, {"type": "null"}]} if rules else schema
    kinds = list(kind) if isinstance(kind, list) else [kind]
    widened = {**schema, "type": kinds if "null" in kinds else [*kinds, "null"]}
    values = schema.get("enum")
    if isinstance(values, list) and None not in values:
        widened["enum"] = [*values, None]
    return widened
