"""Bounds what a schema costs to check by: how often it applies schemas to one value, and the work on a given value.

References and applicators in place (`allOf`, `$ref`, `if`, ...) apply further schemas to the *same* value. Where each
of some levels refers twice to the one below, twenty lines ask for a million checks. They are counted here from the
bottom up, each schema once, so that nothing is expanded. Recursion through `properties`, `items` and their like is
fine: a value ends it. What it costs depends on the value, and `Work` counts that: also what patterns cost on its texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Final, Self
from urllib.parse import unquote

from toolevals.grading.json_schema.subschemas import LARGEST_PATTERN, SMALLEST_PATTERN, pattern_size, subschemas
from toolevals.grading.values.problems import InvalidDocument, Problem, parts_of, pointer_to
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

MOST_APPLIED: Final = 10_000
"""The most schemas that may be applied to the same value; `unevaluated...` counts `UNEVALUATED` times."""
MOST_DEEP: Final = 100
"""The most schemas that may be applied to the same value in a row."""
MOST_WORK: Final = 1_000_000
"""The most schemas that may be applied to all parts of one value, together."""
MOST_LISTED: Final = 200_000
"""So much may be put into the list of what is wrong with a value, in parts of values and tenths of an enum's values."""
MOST_EXPLAINED: Final = 2_000
"""The same where the reference validator says why."""
MOST_TARGETS: Final = 100_000
"""The most places that the references of a schema may lead to, all together, where anchors or identifiers repeat."""
MATCHED: Final = 5_000
"""So many bytes of a compiled pattern, each for one byte of text, count as one check."""
UNEVALUATED: Final = 10
_MOST_STATES = 50_000
_IN_A_ROW = f"applies more than {MOST_DEEP} schemas in a row to the same value"

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE_MAPS = ("dependentSchemas", "dependencies")
_ITEMS = ("items", "additionalItems", "contains", "unevaluatedItems")
_MEMBERS = ("additionalProperties", "unevaluatedProperties")
Schema = JsonObject
_Edge = tuple[str, Schema]


class SchemaCost:
    """The cost of checking by a schema; `problems` says by pointer where it is too high."""

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self._edges: dict[int, list[_Edge]] = {}
        self._applied: dict[int, int] = {}
        self._fans: dict[int, int] = {}
        self._rows: dict[int, int] = {}
        self._anchors: dict[str, list[Schema]] = {}
        self._resources: list[Schema] = [schema]
        self._patterns = 0
        self._found: dict[str, list[Schema]] = {}
        self._led_to = 0
        self._problem: Problem | None = None
        self._places: dict[int, tuple[str | int, ...]] = {}
        # The most that one application brings to one part of a value, and the longest enum.
        self.most = 1
        self.longest_enum = 0
        self._read()

    @property
    def problems(self) -> list[Problem]:
        """Return where a schema costs too much: at most one problem."""
        return [self._problem] if self._problem else []

    def at(self, path: Sequence[str | int]) -> Self:
        """Return the same cost, of the part of the schema at a path."""
        node: JsonValue = self._root
        for step in path:
            node = node[step]
        part = copy(self)
        part._root = node if isinstance(node, dict) else {}
        return part

    def require_cheap(self, value: object) -> None:
        """Raise InvalidDocument where the check of a value may take too long."""
        size, deep, length = _measured(value)
        size += length * self._patterns * LARGEST_PATTERN // MATCHED
        if size * self.most ** (deep + 1) > MOST_WORK and Work(self, MOST_WORK).exceeds(value):
            words = f"takes more than {MOST_WORK:,} checks of parts of this value"
            raise InvalidDocument.at("", words)

    def can_list(self, value: object) -> bool:
        """Tell whether all that is wrong with a value can be listed in a short time."""
        size, deep, _ = _measured(value)
        most = size * self.most ** (deep + 1) * (deep + 1 + self.longest_enum // 10)
        return most <= MOST_LISTED or not Work(self, MOST_LISTED, lists=True).exceeds(value)

    def can_explain(self, value: object) -> bool:
        """Tell whether a validator that is a hundred times as slow can list what is wrong in a short time."""
        return not Work(self, MOST_EXPLAINED, lists=True).exceeds(value)

    def in_place(self, schema: Schema) -> list[_Edge]:
        """Return what a schema applies to its own value, each with the pointer's last parts."""
        if (known := self._edges.get(id(schema))) is None:
            known = self._edges[id(schema)] = list(self._in_place(schema))
        return known

    def _read(self) -> None:
        found = list(subschemas(self._root))
        for path, schema in found:
            self._places[id(schema)] = path
            named = schema.get("patternProperties")
            self._patterns = max(self._patterns, len(named) if isinstance(named, dict) else "pattern" in schema)
            if path and isinstance(schema.get("$id"), str):
                self._resources.append(schema)
            for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):
                if isinstance(name := schema.get(keyword), str):
                    self._anchors.setdefault(name.removeprefix("#"), []).append(schema)
        for path, schema in found:
            if self._problem:
                return
            self._apply(schema, path)

    def _apply(self, start: Schema, path: tuple[str | int, ...]) -> None:
        on_way: set[int] = set()

        def applied(schema: Schema, where: str) -> int:
            if (known := self._applied.get(id(schema))) is not None:
                return known
            if self._problem:
                return 1
            if id(schema) in on_way:
                self._problem = Problem(where, "leads back to itself without going into the value, so it never ends")
                return 1
            if len(on_way) > MOST_DEEP:
                self._problem = Problem(where, _IN_A_ROW)
                return 1
            on_way.add(id(schema))
            here = self._where(schema, where)
            factor = UNEVALUATED if _is_unevaluated(schema) else 1
            total = factor * (1 + sum(applied(inside, here + edge) for edge, inside in self.in_place(schema)))
            fan = factor * (_fan(schema) + sum(self._fans.get(id(inside), 1) for _, inside in self.in_place(schema)))
            on_way.discard(id(schema))
            if total > MOST_APPLIED and not self._problem:
                words = f"applies more than {MOST_APPLIED:,} schemas to the same value: its references multiply"
                self._problem = Problem(here, words)
            row = 1 + max((self._rows.get(id(inside), 0) for _, inside in self.in_place(schema)), default=0)
            self._rows[id(schema)] = row
            if row > MOST_DEEP and not self._problem:
                self._problem = Problem(here, _IN_A_ROW)
            self._applied[id(schema)], self._fans[id(schema)] = total, fan
            self.most = max(self.most, total, fan)
            enum = schema.get("enum")
            self.longest_enum = max(self.longest_enum, len(enum) if isinstance(enum, list) else 0)
            return total

        applied(start, pointer_to(path))

    def _where(self, schema: Schema, otherwise: str) -> str:
        place = self._places.get(id(schema))
        return otherwise if place is None else pointer_to(place)

    def _in_place(self, schema: Schema) -> Iterator[_Edge]:
        for keyword in _REFERENCES:
            if isinstance(reference := schema.get(keyword), str) and not self._problem:
                if (targets := self._found.get(reference)) is None:
                    targets = self._found[reference] = self._targets(reference)
                self._led_to += len(targets)
                if self._led_to > MOST_TARGETS:
                    words = "leads to too many places: anchors or identifiers repeat in this schema"
                    self._problem = Problem(pointer_to((*self._places.get(id(schema), ()), keyword)), words)
                    return
                yield from ((f"/{keyword}", each) for each in targets)
        yield from _applicators(schema)

    def _targets(self, reference: str) -> list[Schema]:
        """Return all that a reference may lead to: more than one where an anchor or a resource leaves that open."""
        fragment = unquote(reference.partition("#")[2])
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment, [])
        found: dict[int, Schema] = {}
        for resource in self._resources:
            node: JsonValue = resource
            for part in parts_of(fragment):
                node = _member(node, part)
            if isinstance(node, dict):
                found[id(node)] = node
        return list(found.values())

    def root(self) -> Schema:
        """Return the schema itself."""
        return self._root


class Work:
    """Counts the work that a schema asks for on one value, up to a limit."""

    def __init__(self, cost: SchemaCost, limit: int, *, lists: bool = False) -> None:
        self._cost, self._limit, self._lists = cost, limit, lists
        self._known: dict[tuple[int, int], int] = {}
        self._sizes: dict[int, int] = {}

    def exceeds(self, value: object) -> bool:
        """Tell whether the work is more than the limit, or cannot be counted in a short time."""
        try:
            return self._work(self._cost.root(), value) > self._limit
        except RecursionError:
            return True

    def _work(self, schema: Schema, value: object) -> int:
        key = (id(schema), id(value))
        if (known := self._known.get(key)) is not None:
            return known
        if len(self._known) >= _MOST_STATES:
            return self._limit + 1
        total = self._own(schema, value)
        for _, inside in self._cost.in_place(schema):
            total += self._work(inside, value)
            if total > self._limit:
                break
        else:
            for inside, part in _consumed(schema, value):
                total += self._work(inside, part)
                if total > self._limit:
                    break
        if _is_unevaluated(schema):
            total *= UNEVALUATED
        self._known[key] = total
        return total

    def _own(self, schema: Schema, value: object) -> int:
        if not self._lists:
            return 1 + _matched(schema, value) // MATCHED
        enum = schema.get("enum")
        return self._size(value) + (len(enum) // 10 if isinstance(enum, list) else 0)

    def _size(self, value: object) -> int:
        if not isinstance(value, dict | list):
            return 1 + (len(value) // 100 if isinstance(value, str) else 0)
        if (known := self._sizes.get(id(value))) is None:
            known = self._sizes[id(value)] = 1 + sum(map(self._size, _parts(value)))
        return known


def _applicators(schema: Schema) -> Iterator[_Edge]:
    for keyword in _IN_PLACE:
        if isinstance(inside := schema.get(keyword), dict):
            yield f"/{keyword}", inside
    for keyword in _IN_PLACE_LISTS:
        members = schema.get(keyword)
        for place, each in enumerate(members if isinstance(members, list) else ()):
            if isinstance(each, dict):
                yield f"/{keyword}/{place}", each
    for keyword in _IN_PLACE_MAPS:
        named = schema.get(keyword)
        for name, each in named.items() if isinstance(named, dict) else ():
            if isinstance(each, dict):
                yield pointer_to((keyword, name)), each


def _consumed(schema: Schema, value: object) -> Iterator[tuple[Schema, Any]]:
    """Yield which schemas are applied to which parts of a value, some that may not be; the patterns are not asked."""
    if isinstance(value, dict):
        named = schema.get("properties")
        yield from _each_of(named, value)
        patterns = schema.get("patternProperties")
        every = [each for each in patterns.values() if isinstance(each, dict)] if isinstance(patterns, dict) else []
        every += [each for keyword in _MEMBERS if isinstance(each := schema.get(keyword), dict)]
        for part in value.values() if every else ():
            yield from ((each, part) for each in every)
        if isinstance(names := schema.get("propertyNames"), dict):
            yield from ((names, name) for name in value)
    elif isinstance(value, list):
        for keyword in ("prefixItems", "items"):
            listed = schema.get(keyword)
            for each, part in zip(listed, value, strict=False) if isinstance(listed, list) else ():
                if isinstance(each, dict):
                    yield each, part
        every = [each for keyword in _ITEMS if isinstance(each := schema.get(keyword), dict)]
        for part in value if every else ():
            yield from ((each, part) for each in every)


def _each_of(named: Any, value: JsonMapping) -> Iterator[tuple[Schema, Any]]:
    for name, part in value.items() if isinstance(named, dict) else ():
        if isinstance(each := named.get(name), dict):
            yield each, part


def _fan(schema: Schema) -> int:
    """Return the most schemas that one schema applies to one part of its value, at least one."""
    patterns = schema.get("patternProperties")
    members = ("properties" in schema) + (len(patterns) if isinstance(patterns, dict) else 0)
    members += sum(isinstance(schema.get(keyword), dict) for keyword in (*_MEMBERS, "propertyNames"))
    items = ("prefixItems" in schema) + sum(keyword in schema for keyword in _ITEMS)
    return max(1, members, items)


def _is_unevaluated(schema: Schema) -> bool:
    return "unevaluatedProperties" in schema or "unevaluatedItems" in schema


def _parts(value: object) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())


def _patterns_of(schema: Schema, value: object) -> list[str]:
    """Return the patterns that are put to a value: to a text, or to each name of an object."""
    pattern, patterns = schema.get("pattern"), schema.get("patternProperties")
    if isinstance(value, dict):
        return list(patterns) if isinstance(patterns, dict) else []
    return [pattern] if isinstance(value, str) and isinstance(pattern, str) else []


def _matched(schema: Schema, value: JsonValue) -> int:
    """Return how many bytes of compiled patterns are put to how many bytes of text, multiplied; enough is enough."""
    if not (patterns := _patterns_of(schema, value)):
        return 0
    length = _bytes(value) if isinstance(value, str) else sum(map(_bytes, value))
    # At least, before any is compiled: there may be thousands.
    matched = length * len(patterns) * SMALLEST_PATTERN
    for pattern in patterns:
        if matched > MATCHED * MOST_WORK:
            break
        matched += length * pattern_size(pattern)
    return matched


def is_too_long(pattern: str, text: str) -> bool:
    """Tell whether a text is too long to put a pattern to it."""
    return _matched({"pattern": pattern}, text) > MATCHED * MOST_WORK


def _bytes(text: str) -> int:
    """Return how long a text is as bytes, at most."""
    return len(text) if text.isascii() else 4 * len(text)


def _measured(value: object) -> tuple[int, int, int]:
    """Return how many parts a value has, itself and long texts by their length counted, how deep it is, and its text.

    The text is in bytes, the names of properties among it.
    """
    size, deep, length, level = 0, -1, 0, [value]
    while level:
        deep += 1
        texts = [each for each in level if isinstance(each, str)]
        texts += [name for each in level if isinstance(each, dict) for name in each]
        size += len(level) + sum(len(each) // 100 for each in level if isinstance(each, str))
        length += sum(map(_bytes, texts))
        level = [part for each in level if isinstance(each, dict | list) for part in _parts(each)]
    return size, deep, length


def _member(node: object, part: str) -> Any:
    if isinstance(node, dict):
        return node.get(part)
    return node[int(part)] if isinstance(node, list) and part.isdigit() and int(part) < len(node) else None
