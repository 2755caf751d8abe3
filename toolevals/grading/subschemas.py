"""Where schemas stand inside a JSON Schema (2020-12 and the drafts before it), and what is refused there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from toolevals.grading.problems import Problem, pointer_to

Path = tuple[str | int, ...]

_ONE = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_MAPS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

# Compiled patterns larger than this are refused, as RE2 does: their cost is memory, not time.
PATTERNS = jsonschema_rs.RegexOptions(size_limit=1 << 20)


def subschemas(schema: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every object schema within a schema, itself first, with its path."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for keyword in _ONE:
        yield from subschemas(schema.get(keyword), (*path, keyword))
    for keyword in _LISTS:
        if isinstance(members := schema.get(keyword), list):
            for place, member in enumerate(members):
                yield from subschemas(member, (*path, keyword, place))
    for keyword in _MAPS:
        if isinstance(named := schema.get(keyword), dict):
            for name, member in named.items():
                yield from subschemas(member, (*path, keyword, name))


def remote_references(schema: dict[str, Any]) -> list[Problem]:
    """Return a problem for every reference that leads out of the schema."""
    return [
        Problem(pointer_to((*path, keyword)), f"refers to {target!r}: only references inside the schema are followed")
        for path, subschema in subschemas(schema)
        for keyword in _REFERENCES
        if isinstance(target := subschema.get(keyword), str) and not target.startswith("#")
    ]


def is_linear(pattern: str) -> bool:
    """Tell whether the linear-time engine takes a pattern: no look-around, no back-reference, no giant."""
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=PATTERNS, offline=True)
    except (ValueError, jsonschema_rs.ValidationError):
        return False
    return True


def without_refused_patterns(schema: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the schema with the patterns that the engine refuses marked as unchecked, and a problem for each.

    `pattern` becomes `x-unchecked-pattern`. In `patternProperties` the entry goes to `x-unchecked-patternProperties`,
    and what the schema says of further properties goes with it, because nobody can tell which those are.
    """
    losses: list[Problem] = []
    return _cleaned(schema, (), losses), losses


def _cleaned(schema: Any, path: Path, losses: list[Problem]) -> Any:
    if not isinstance(schema, dict):
        return schema
    cleaned = {keyword: _cleaned_keyword(keyword, value, (*path, keyword), losses) for keyword, value in schema.items()}
    if isinstance(pattern := schema.get("pattern"), str) and not is_linear(pattern):
        cleaned["x-unchecked-pattern"] = cleaned.pop("pattern")
        losses.append(
            Problem(pointer_to((*path, "pattern")), "the pattern cannot be matched in linear time: unchecked")
        )
    named = cleaned.get("patternProperties")
    refused = [pattern for pattern in named if not is_linear(pattern)] if isinstance(named, dict) else []
    if isinstance(named, dict) and refused:
        cleaned["x-unchecked-patternProperties"] = {pattern: named.pop(pattern) for pattern in refused}
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if keyword in cleaned:
                cleaned[f"x-unchecked-{keyword}"] = cleaned.pop(keyword)
        losses.extend(
            Problem(
                pointer_to((*path, "patternProperties", pattern)),
                "the pattern cannot be matched in linear time: these and further properties are unchecked",
            )
            for pattern in refused
        )
    return cleaned


def _cleaned_keyword(keyword: str, value: Any, path: Path, losses: list[Problem]) -> Any:
    if keyword in _LISTS and isinstance(value, list):
        return [_cleaned(member, (*path, place), losses) for place, member in enumerate(value)]
    if keyword in _MAPS and isinstance(value, dict):
        return {name: _cleaned(member, (*path, name), losses) for name, member in value.items()}
    return _cleaned(value, path, losses) if keyword in _ONE else value
