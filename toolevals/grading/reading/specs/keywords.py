"""Finds words of an arguments' schema that no validator knows: arguments written where keywords belong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.reading.specs.drafts import Losses
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to

_SAYS_WHAT_IS_INSIDE = frozenset(
    {"properties", "patternProperties", "additionalProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if"}
)
_KNOWN = _SAYS_WHAT_IS_INSIDE | {
    "$defs", "$schema", "$id", "$anchor", "$comment", "$dynamicAnchor", "$vocabulary", "definitions",
    "type", "enum", "const", "required", "not", "then", "else", "items", "prefixItems", "contains", "propertyNames",
    "dependentSchemas", "dependentRequired", "dependencies", "unevaluatedProperties", "unevaluatedItems",
    "minProperties", "maxProperties", "title", "description", "default", "examples", "example",
    "discriminator", "externalDocs", "xml", "contentSchema",
}  # fmt: skip


def keyword_losses(schema: Mapping[str, Any]) -> Losses:
    """Return a loss for each object in the schema's root that stands under no keyword of JSON Schema.

    Raises InvalidDocument where the schema says nothing else of what is inside: these objects are then the arguments.
    """
    unknown = [
        key
        for key, value in schema.items()
        if key not in _KNOWN and not key.startswith("x-") and isinstance(value, Mapping) and value
    ]
    if unknown and _SAYS_WHAT_IS_INSIDE.isdisjoint(schema):
        words = "is no keyword of JSON Schema: if it is an argument, put it under properties"
        raise InvalidDocument(Problem(pointer_to([key]), words) for key in unknown)
    return [Problem(pointer_to([key]), "is no keyword of JSON Schema: nothing checks it") for key in unknown]
