"""Read a JSON Schema for a form: follow references, merge compositions, name variants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Admits any value.
ANY: Mapping[str, Any] = {}
MAX_STEPS = 8
MAX_VARIANTS = 20
_COMPOSED = ("anyOf", "oneOf")
# Plain characters at the start of a pattern, none of which may be absent or repeated.
_BEGINNING = re.compile(r"\^((?:[A-Za-z0-9_@/:# -](?![?*+{]))+)")


def resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a local `$ref` names, with what is next to it; other references are left as JSON."""
    for _ in range(MAX_STEPS):
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        target: Any = root
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping):
            break
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema if isinstance(schema, Mapping) else ANY


def merged(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Mapping[str, Any]:
    """Return a schema with its references followed and the parts of its `allOf` put into it."""
    plain = resolved(schema, root)
    parts = plain.get("allOf")
    if not isinstance(parts, list) or depth >= MAX_STEPS:
        return plain
    whole = {key: value for key, value in plain.items() if key != "allOf"}
    for part in parts:
        whole = _both(whole, merged(part, root, depth + 1))
    return whole


def _both(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    both = {**right, **left}
    for key in ("properties", "$defs"):
        schemas = [side[key] for side in (left, right) if isinstance(side.get(key), Mapping)]
        if len(schemas) == 2:
            both[key] = {**schemas[0], **schemas[1]}
    required = [side["required"] for side in (left, right) if isinstance(side.get("required"), list)]
    if len(required) == 2:
        both["required"] = [*required[0], *required[1]]
    return both


def without_null(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return the schema without the permission to be null, and whether it was permitted."""
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        rest: Any = [kind for kind in kinds if kind != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}, True
    for word in _COMPOSED:
        branches = schema.get(word)
        if not isinstance(branches, list):
            continue
        variants = [merged(branch, root) for branch in branches]
        left = [branch for branch in variants if branch.get("type") != "null"]
        beside = {key: value for key, value in schema.items() if key != word}
        if len(left) == 1:
            return {**left[0], **beside}, len(variants) > 1
        if len(left) < len(variants):
            return {**beside, word: left}, True
    return schema, False


def variants_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the schemas of which a value meets one, each with what is next to the choice; none where it has none.

    Where the choice only narrows what is said next to it (say, which properties are required), it is none.
    """
    kinds = schema.get("type")
    if isinstance(kinds, list) and 1 < len(kinds) <= MAX_VARIANTS:
        return tuple({**schema, "type": kind} for kind in kinds)
    for word in _COMPOSED:
        branches = schema.get(word)
        if not isinstance(branches, list) or not 1 < len(branches) <= MAX_VARIANTS:
            continue
        variants = [merged(branch, root) for branch in branches]
        if not all(_says_what(branch) for branch in variants):
            continue
        beside = {key: value for key, value in schema.items() if key not in (word, "description", "title", "default")}
        return tuple(_both(branch, beside) for branch in variants)
    return ()


def _says_what(schema: Mapping[str, Any]) -> bool:
    return any(word in schema for word in ("type", "enum", "const", "properties", "items", *_COMPOSED))


def plain_beginning(pattern: Any) -> str:
    """Return the characters with which every match of a pattern begins, as far as they are plain; "" where none are."""
    if not isinstance(pattern, str) or "|" in pattern:
        return ""
    beginning = _BEGINNING.match(pattern)
    return beginning[1] if beginning else ""
