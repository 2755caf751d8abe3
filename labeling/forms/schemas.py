"""Read a JSON Schema for a form: follow references, merge compositions, name variants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain, islice
from typing import Any
from urllib.parse import unquote

from toolevals.grading.values.problems import value_at

# Admits any value.
ANY: Mapping[str, Any] = {}
MAX_STEPS = 100
MAX_VARIANTS = 20
# Of alternatives beyond this number none is looked at.
MAX_BRANCHES = 200
# The fields that a form shows of one object; others are added by their names.
MAX_FIELDS = 300
MAX_REQUIRED = 1_000
_COMPOSED = ("anyOf", "oneOf")
# Plain characters at the start of a pattern, none of which may be absent or repeated.
_BEGINNING = re.compile(r"\^((?:[A-Za-z0-9_@/:# -](?![?*+{]))+)")


class Root:
    """The whole schema of a tool, into which references lead. Each of its parts is merged once, so nothing multiplies.

    `opens` says whether objects that are required are open at first: not where that is more than a page holds.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.opens = True
        # By identity, with what was merged, so that no other gets its identity.
        self._merged: dict[int, tuple[Any, Mapping[str, Any]]] = {}

    def merged(self, schema: Any, depth: int = 0) -> Mapping[str, Any]:
        """Return a schema with its references followed and the parts of its `allOf` put into it.

        References that lead out of the schema or nowhere, and what leads back to itself, say nothing.
        """
        if not isinstance(schema, Mapping):
            return ANY
        target, listed = self._target(schema), schema.get("allOf")
        parts = [*([] if target is None else [target]), *(listed if isinstance(listed, list) else ())]
        if not parts or depth > MAX_STEPS:
            return schema
        if (known := self._merged.get(id(schema))) is None:
            self._merged[id(schema)] = schema, ANY
            whole = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
            for part in parts:
                add(whole, self.merged(part, depth + 1))
            known = self._merged[id(schema)] = schema, whole
        return known[1]

    def _target(self, schema: Mapping[str, Any]) -> Any:
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        found = value_at(self.schema, unquote(reference[1:]))
        return found if isinstance(found, Mapping) else None


def add(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Put into a schema what another says of the same value."""
    for key, value in part.items():
        mine = whole.get(key)
        if key in ("properties", "$defs") and isinstance(mine, Mapping) and isinstance(value, Mapping):
            whole[key] = dict(islice({**mine, **value}.items(), MAX_FIELDS + 1))
        elif key == "required" and isinstance(mine, list) and isinstance(value, list):
            names = dict.fromkeys(name for name in chain(mine, value) if isinstance(name, str))
            whole[key] = list(islice(names, MAX_REQUIRED))
        else:
            whole.setdefault(key, value)


def without_null(schema: Mapping[str, Any], root: Root) -> tuple[Mapping[str, Any], bool]:
    """Return the schema without the permission to be null, and whether it was permitted."""
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        rest: Any = [kind for kind in kinds if kind != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}, True
    for word in _COMPOSED:
        branches = schema.get(word)
        if not isinstance(branches, list) or len(branches) > MAX_BRANCHES:
            continue
        variants = [root.merged(branch) for branch in branches]
        left = [branch for branch in variants if branch.get("type") != "null"]
        beside = {key: value for key, value in schema.items() if key != word}
        if len(left) == 1:
            return {**left[0], **beside}, len(variants) > 1
        if len(left) < len(variants):
            return {**beside, word: left}, True
    return schema, False


def variants_of(schema: Mapping[str, Any], root: Root) -> tuple[Mapping[str, Any], ...]:
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
        variants = [root.merged(branch) for branch in branches]
        if not all(_says_what(branch) for branch in variants):
            continue
        beside = {key: value for key, value in schema.items() if key not in (word, "description", "title", "default")}
        return tuple(_both(branch, beside) for branch in variants)
    return ()


def _both(left: Mapping[str, Any], right: Mapping[str, Any]) -> Mapping[str, Any]:
    whole = dict(left)
    add(whole, right)
    return whole


def _says_what(schema: Mapping[str, Any]) -> bool:
    return any(word in schema for word in ("type", "enum", "const", "properties", "items", *_COMPOSED))


def plain_beginning(pattern: Any) -> str:
    """Return the characters with which every match of a pattern begins, as far as they are plain; "" where none are."""
    if not isinstance(pattern, str) or "|" in pattern:
        return ""
    beginning = _BEGINNING.match(pattern)
    return beginning[1] if beginning else ""
