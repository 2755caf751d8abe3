"""Tell where schemas stand inside a JSON Schema (2020-12 and the drafts before it), and what is refused there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import jsonschema_rs
import orjson

from toolevals.grading.values.problems import Problem, pointer_to
from toolevals.json_types import JsonObject

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
_MAPS = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
_HOLDING = frozenset({*_LISTS, *_MAPS})
_KEYWORDS = frozenset({*_ONE, *_HOLDING})
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

# Compiled patterns larger than this are refused, as RE2 does: their cost is memory, not time.
SMALLEST_PATTERN, LARGEST_PATTERN = 1 << 10, 1 << 20
PATTERNS = jsonschema_rs.RegexOptions(size_limit=LARGEST_PATTERN)
_SIZES = tuple(1 << power for power in range(10, 21))


def subschemas(schema: object, path: Path = ()) -> Iterator[tuple[Path, JsonObject]]:
    """Yield every object schema within a schema, itself first, with its path."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for place, inside in direct_subschemas(schema):
        yield from subschemas(inside, (*path, *place))


def direct_subschemas(schema: JsonObject) -> Iterator[tuple[Path, Any]]:
    """Yield what stands directly inside a schema where a schema belongs, with its path."""
    if _KEYWORDS.isdisjoint(schema):
        return
    for keyword in _ONE:
        if isinstance(inside := schema.get(keyword), dict):
            yield (keyword,), inside
    for keyword in _LISTS:
        if isinstance(members := schema.get(keyword), list):
            yield from (((keyword, place), member) for place, member in enumerate(members))
    for keyword in _MAPS:
        if isinstance(named := schema.get(keyword), dict):
            yield from (((keyword, name), member) for name, member in named.items())


def with_subschemas(schema: JsonObject, convert: Callable[[Any, Path], Any]) -> JsonObject:
    """Return a schema whose direct subschemas are replaced by what `convert` makes of each and of its path."""
    made: JsonObject = {
        keyword: value.copy() if isinstance(value, dict | list) and keyword in _HOLDING else value
        for keyword, value in schema.items()
    }
    for place, inside in list(direct_subschemas(schema)):
        if len(place) == 1:
            made[str(place[0])] = convert(inside, place)
        else:
            made[str(place[0])][place[1]] = convert(inside, place)
    return made


def remote_references(schema: JsonObject) -> list[Problem]:
    """Return a problem for every reference that leads out of the schema."""
    if not _may_hold(schema, _REFERENCES):
        return []
    return [
        Problem(pointer_to((*path, keyword)), f"refers to {target!r}: only references inside the schema are followed")
        for path, subschema in subschemas(schema)
        for keyword in _REFERENCES
        if isinstance(target := subschema.get(keyword), str) and not target.startswith("#")
    ]


def _may_hold(schema: JsonObject, keywords: Sequence[str]) -> bool:
    """Tell whether one of these keywords may stand somewhere in a schema: its text then holds it in quotes."""
    try:
        text = orjson.dumps(schema)
    except TypeError:
        # Integers beyond 64 bits, and what JSON does not hold.
        return True
    return any(f'"{keyword}"'.encode() in text for keyword in keywords)


def is_linear(pattern: str) -> bool:
    """Tell whether the linear-time engine takes a pattern: no look-around, no back-reference, no giant."""
    return _compiles(pattern, PATTERNS)


@lru_cache(maxsize=4096)
def pattern_size(pattern: str) -> int:
    """Return about how many bytes a pattern takes as it is compiled: a character of text may cost time by them.

    It is 0 where the linear-time engine refuses the pattern, which then checks nothing.
    """
    return next((size for size in _SIZES if _compiles(pattern, jsonschema_rs.RegexOptions(size_limit=size))), 0)


def _compiles(pattern: str, options: jsonschema_rs.RegexOptions) -> bool:
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options, offline=True)
    except (ValueError, jsonschema_rs.ValidationError):
        return False
    return True


def without_refused_patterns(schema: JsonObject) -> tuple[JsonObject, list[Problem]]:
    """Return the schema with the patterns that the engine refuses marked as unchecked, and a problem for each.

    `pattern` becomes `x-unchecked-pattern`. In `patternProperties` the entry goes to `x-unchecked-patternProperties`,
    and what the schema says of further properties goes with it, because no one can tell which those are.
    """
    losses: list[Problem] = []
    if not _may_hold(schema, ("pattern", "patternProperties")):
        return schema, losses
    return _cleaned(schema, (), losses), losses


def _cleaned(schema: object, path: Path, losses: list[Problem]) -> Any:
    if not isinstance(schema, dict):
        return schema
    cleaned = with_subschemas(schema, lambda inside, at: _cleaned(inside, (*path, *at), losses))
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
