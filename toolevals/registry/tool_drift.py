"""Tell what other definitions of tools mean for calls that were right before: breaking, widening or wording.

A change that no rule knows is named `unknown`, which gates and pages read as breaking: never as wording. The order of
tools, properties, enum values and required names says nothing, so another order is no change.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from toolevals.grading.values import ToolSpec
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonMapping

DriftKind = Literal["breaking", "unknown", "widening", "wording"]
# By weight -> in words.
DRIFT_KINDS: Final[Mapping[DriftKind, str]] = {
    "breaking": "breaking",
    "unknown": "breaking or unknown",
    "widening": "widening",
    "wording": "wording",
}
# Those that a call which was right before may not survive.
AT_RISK: Final = frozenset[DriftKind](("breaking", "unknown"))
# So many parts of one tool's schemas are compared, and so deep.
MOST_PARTS: Final = 20_000
MOST_DEPTH: Final = 60
LONGEST_SHOWN: Final = 300

_UNORDERED: Final = frozenset(("enum", "required", "type", "anyOf", "oneOf", "allOf"))
# What holds values of the caller, and no schemas.
_VALUES: Final = frozenset(("default", "const", "example", "examples"))
_WORDS: Final = frozenset(("title", "description", "$comment", "example", "examples", "deprecated", "externalDocs"))
# A higher lower limit takes less, and a lower upper one.
_LOWER: Final = frozenset(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"))
_UPPER: Final = frozenset(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"))
_SETS: Final = frozenset(("$defs", "definitions", "components", "$schema", "$id", "$anchor"))
_TYPES: Final = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))


@dataclass(frozen=True, slots=True)
class Drift:
    """One change: of which tool and argument (empty: of the tool itself), its kind, what it is, and both sides."""

    tool: str
    kind: DriftKind
    what: str
    argument: str = ""
    before: str = ""
    after: str = ""

    @property
    def kind_words(self) -> str:
        """Return the kind as pages show it."""
        return DRIFT_KINDS[self.kind]


def tool_drift(before: Iterable[ToolSpec], after: Iterable[ToolSpec]) -> tuple[Drift, ...]:
    """Return what changed between two lists of tools, the heaviest kind first, then by tool."""
    old, new = ({tool.name: tool for tool in tools} for tools in (before, after))
    gone = {name: tool for name, tool in old.items() if name not in new}
    came = {name: tool for name, tool in new.items() if name not in old}
    found: list[Drift] = []
    for name, other in _renamed(gone, came, lambda tool: _settled([tool.input_schema, tool.description])).items():
        found.append(Drift(name, "breaking", "tool renamed", before=name, after=other))
        found += _of_tool(gone.pop(name), came.pop(other), name)
    found += (Drift(name, "breaking", "tool removed", before=name) for name in gone)
    found += (Drift(name, "widening", "tool added", after=name) for name in came)
    for name in old.keys() & new.keys():
        found += _of_tool(old[name], new[name], name)
    weights = {kind: weight for weight, kind in enumerate(DRIFT_KINDS)}
    return tuple(sorted(found, key=lambda each: (weights[each.kind], each.tool, each.argument, each.what)))


def drift_counts(changes: Iterable[Drift]) -> dict[DriftKind, int]:
    """Return how many changes are of each kind, zeros included."""
    counted = Counter(change.kind for change in changes)
    return {kind: counted[kind] for kind in DRIFT_KINDS}


def drift_words(counts: Mapping[DriftKind, int]) -> str:
    """Return the counts that are not zero, as "2 breaking, 1 widening"."""
    return ", ".join(f"{counts[kind]:,} {words}" for kind, words in DRIFT_KINDS.items() if counts[kind])


def tools_at_risk(changes: Iterable[Drift]) -> frozenset[str]:
    """Return the tools, by their old names, whose calls may be wrong now."""
    return frozenset(change.tool for change in changes if change.kind in AT_RISK)


def _of_tool(old: ToolSpec, new: ToolSpec, name: str) -> Iterator[Drift]:
    # Not by `==`, to which 1 is True.
    if old.digest == new.digest:
        return
    if _settled(old.input_schema) != _settled(new.input_schema):
        yield from _Comparison(name, old.input_schema, new.input_schema).changes()
    if old.description != new.description:
        yield Drift(
            name, "wording", "description changed", before=_short(old.description), after=_short(new.description)
        )
    if old.title != new.title:
        yield Drift(name, "wording", "title changed", before=old.title, after=new.title)
    if _settled(old.output_schema) != _settled(new.output_schema):
        same = _settled(_without_words(old.output_schema)) == _settled(_without_words(new.output_schema))
        yield Drift(name, "wording" if same else "unknown", "output schema changed")
    for part in ("annotations", "cost", "assert_formats", "sensitive_output"):
        one, other = getattr(old, part), getattr(new, part)
        if one != other:
            sides = (side.to_document() if part == "annotations" else side for side in (one, other))
            yield Drift(name, "unknown", f"{part.replace('_', ' ')} changed", "", *map(_shown, sides))


def _renamed(gone: Mapping[str, Any], came: Mapping[str, Any], content: Callable[[Any], str]) -> dict[str, str]:
    """Return old name -> new name of what came with the content of what went, where only one of each has it."""
    before, after = ({name: content(part) for name, part in parts.items()} for parts in (gone, came))
    once, other = Counter(before.values()), Counter(after.values())
    names = {text: name for name, text in after.items()}
    return {name: names[text] for name, text in before.items() if once[text] == 1 and other[text] == 1}


class _TooLargeError(Exception):
    """The schemas have more parts than are compared."""


class _Comparison:
    """Compares two versions of one tool's input schema."""

    def __init__(self, tool: str, old: JsonMapping, new: JsonMapping) -> None:
        self._tool, self._roots = tool, (old, new)
        self._parts = 0
        self._following: list[tuple[str, str]] = []
        self._is_unfollowed = False

    def changes(self) -> list[Drift]:
        """Return every change."""
        found: list[Drift] = []
        try:
            found.extend(self._schema(*self._roots, "", 0))
        except _TooLargeError:
            found.append(self._drift("unknown", "too large to compare whole", ""))
        sets = [{key: root[key] for key in _SETS & root.keys()} for root in self._roots]
        if self._is_unfollowed and _settled(sets[0]) != _settled(sets[1]):
            found.append(self._drift("unknown", "what a reference points to changed", ""))
        return found

    def _drift(self, kind: DriftKind, what: str, path: str, before: object = None, after: object = None) -> Drift:
        return Drift(self._tool, kind, what, path, _shown(before), _shown(after))

    def _schema(self, one: Any, other: Any, path: str, depth: int) -> Iterator[Drift]:
        self._parts += 1
        if self._parts > MOST_PARTS or depth > MOST_DEPTH:
            raise _TooLargeError
        old, old_ref = _resolved(one, self._roots[0])
        new, new_ref = _resolved(other, self._roots[1])
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            if old != new:
                yield self._drift("unknown", "schema changed", path, old, new)
            return
        self._is_unfollowed |= "$ref" in old or "$ref" in new
        old, new = _as_branches(old, new), _as_branches(new, old)
        pair = old_ref, new_ref
        if pair in self._following and pair != ("", ""):
            return
        self._following.append(pair)
        yield from self._values(old, new, path)
        yield from self._properties(old, new, path, depth)
        yield from self._beneath(old, new, path, depth)
        for key in sorted((old.keys() | new.keys()) - _READ):
            yield from self._keyword(key, old.get(key), new.get(key), path)
        self._following.pop()

    def _keyword(self, key: str, old: Any, new: Any, path: str) -> Iterator[Drift]:
        """Yield the change of a keyword that holds no part of its own that is compared."""
        if _settled(old) == _settled(new):
            return
        if key in _WORDS:
            yield self._drift("wording", f"{key} changed", path, old, new)
        elif key in _LOWER | _UPPER:
            yield self._limit(key, old, new, path)
        elif key == "format":
            kind: DriftKind = "widening" if new is None else "breaking"
            yield self._drift(kind, _side_words("format", old, new), path, old, new)
        elif key == "pattern":
            kind = "breaking" if old is None else "widening" if new is None else "unknown"
            yield self._drift(kind, _side_words("pattern", old, new), path, old, new)
        elif key == "uniqueItems" and {old, new} <= {None, True, False}:
            kind = "breaking" if new else "widening"
            if bool(old) != bool(new):
                yield self._drift(kind, "unique entries asked" if new else "unique entries not asked any more", path)
        elif key == "multipleOf":
            yield self._drift(_multiple(old, new), _side_words("multiple", old, new), path, old, new)
        else:
            yield self._drift("unknown", f"{key} changed", path, old, new)

    def _limit(self, key: str, old: Any, new: Any, path: str) -> Drift:
        if any(isinstance(side, bool) or not isinstance(side, int | float | None) for side in (old, new)):
            return self._drift("unknown", f"{key} changed", path, old, new)
        tighter = new is not None if None in (old, new) else (new > old) == (key in _LOWER)
        what = f"{key} {'tightened' if tighter else 'loosened'}"
        return self._drift("breaking" if tighter else "widening", what, path, old, new)

    def _values(self, old: JsonMapping, new: JsonMapping, path: str) -> Iterator[Drift]:
        """Compare types and allowed values together: an enum says more than the type next to it."""
        before, after = _allowed(old), _allowed(new)
        if before is None and after is None:
            kind = _types_change(_types(old), _types(new))
            if kind:
                yield self._drift(kind, "type changed", path, old.get("type", "any"), new.get("type", "any"))
            return
        if before is not None and after is not None:
            lost, won = before.keys() - after.keys(), after.keys() - before.keys()
        else:
            listed = before if before is not None else after or {}
            fits = all(_has_type(value, _types(new)) for value in listed.values())
            lost, won = (set(), {""}) if before is not None and fits else ({""}, set())
        sides = old.get("enum", old.get("const")), new.get("enum", new.get("const"))
        if lost:
            yield self._drift("breaking", "enum replaced" if won else "enum narrowed", path, *sides)
        elif won:
            yield self._drift("widening", "enum widened", path, *sides)
        elif _types(old) != _types(new):
            yield self._drift("wording", "type next to an enum changed", path, old.get("type"), new.get("type"))

    def _properties(self, old: JsonMapping, new: JsonMapping, path: str, depth: int) -> Iterator[Drift]:
        before, after = _parts_of(old, "properties"), _parts_of(new, "properties")
        asked, asked_now = _names(old), _names(new)
        gone = {name: part for name, part in before.items() if name not in after}
        came = {name: part for name, part in after.items() if name not in before}
        renamed = _renamed(gone, came, _settled)
        for name, part in gone.items():
            what = "argument renamed" if name in renamed else "argument removed"
            sides = (name, renamed[name]) if name in renamed else (part, None)
            yield self._drift("breaking", what, _below(path, name), *sides)
        for name in came.keys() - set(renamed.values()):
            if name in asked_now:
                yield self._drift("breaking", "required argument added", _below(path, name), None, came[name])
            else:
                yield self._drift("widening", "optional argument added", _below(path, name), None, came[name])
        for name in sorted(asked_now - asked - came.keys()):
            yield self._drift("breaking", "argument required now", _below(path, name), "optional", "required")
        for name in sorted(asked - asked_now - gone.keys()):
            yield self._drift("widening", "argument optional now", _below(path, name), "required", "optional")
        for name in before.keys() & after.keys():
            yield from self._schema(before[name], after[name], _below(path, name), depth + 1)

    def _beneath(self, old: JsonMapping, new: JsonMapping, path: str, depth: int) -> Iterator[Drift]:
        """Compare the entries of lists, further arguments, and branches."""
        if "items" in old or "items" in new:
            yield from self._schema(old.get("items", {}), new.get("items", {}), f"{path}[]", depth + 1)
        one, other = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if isinstance(one, bool) or isinstance(other, bool):
            # A schema takes less than all and more than nothing.
            opened = [
                2 if side in (True, {}) and side is not False else 0 if side is False else 1 for side in (one, other)
            ]
            if opened[0] != opened[1]:
                kind: DriftKind = "breaking" if opened[1] < opened[0] else "widening"
                what = "further arguments limited" if kind == "breaking" else "further arguments allowed"
                yield self._drift(kind, what, path, one, other)
        else:
            yield from self._schema(one, other, _below(path, "*"), depth + 1)
        for word in ("anyOf", "oneOf", "allOf"):
            if word in old or word in new:
                yield from self._branches(word, old.get(word), new.get(word), path, depth)

    def _branches(self, word: str, old: Any, new: Any, path: str, depth: int) -> Iterator[Drift]:
        if not isinstance(old, list) or not isinstance(new, list):
            # Without any branch nothing was asked, or nothing is any more.
            what = f"{word} {'added' if old is None else 'removed'}"
            yield self._drift("widening" if new is None else "breaking", what, path)
            return
        lost, won, pairs = _paired(old, new)
        if len(lost) == len(won):
            pairs += zip(lost, won, strict=True)
            lost = won = []
        for one, other in pairs:
            for change in self._schema(one, other, path, depth + 1):
                # A value that two branches of oneOf take is taken by neither.
                is_open = word == "oneOf" and change.kind == "widening"
                yield replace(change, kind="unknown") if is_open else change
        if lost and won:
            yield self._drift("unknown", f"{word} changed", path, lost, won)
        elif lost:
            yield self._drift("widening" if word == "allOf" else "breaking", f"{word}: a branch removed", path, lost)
        elif won:
            yield self._drift(_OF_NEW_BRANCH[word], f"{word}: a branch added", path, None, won)


_OF_NEW_BRANCH: Final[Mapping[str, DriftKind]] = {"anyOf": "widening", "oneOf": "unknown", "allOf": "breaking"}
_READ: Final = (
    frozenset(
        ("type", "enum", "const", "properties", "required", "items", "additionalProperties", "anyOf", "oneOf", "allOf")
    )
    | _SETS
)


def _resolved(schema: Any, root: JsonMapping) -> tuple[Any, str]:
    """Return a schema with its local references followed, and what was followed; as it is where that cannot be done."""
    followed = ""
    for _ in range(MOST_DEPTH):
        if not isinstance(schema, Mapping) or not isinstance(ref := schema.get("$ref"), str) or not ref.startswith("#"):
            return schema, followed
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        target: Any = root
        for part in ref[1:].split("/")[1:]:
            target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping) or beside.keys() & target.keys() - _WORDS:
            return schema, followed
        schema, followed = {**target, **beside}, f"{followed} {ref} {_settled(beside)}"
    return schema, followed


def _as_branches(schema: JsonMapping, other: JsonMapping) -> JsonMapping:
    """Return a plain schema as the one branch that it is, where the other side has branches and nothing else."""
    for word in ("anyOf", "oneOf"):
        own = schema.keys() - _WORDS - {"default"}
        if word in other and word not in schema and other.keys() - _WORDS - {"default"} == {word} and own:
            kept = {key: part for key, part in schema.items() if key not in own}
            return {**kept, word: [{key: schema[key] for key in own}]}
    return schema


def _paired(old: Sequence[Any], new: Sequence[Any]) -> tuple[list[Any], list[Any], list[tuple[Any, Any]]]:
    """Return what is left over of two lists of branches, and those of one text in pairs."""
    by_text: dict[str, list[Any]] = {}
    for branch in new:
        by_text.setdefault(_settled(branch), []).append(branch)
    lost, pairs = [], []
    for branch in old:
        if others := by_text.get(_settled(branch)):
            pairs.append((branch, others.pop()))
        else:
            lost.append(branch)
    return lost, [branch for others in by_text.values() for branch in others], pairs


def _types(schema: JsonMapping) -> frozenset[str]:
    said = schema.get("type")
    names = frozenset([said] if isinstance(said, str) else said if isinstance(said, list) else _TYPES)
    return names | {"integer"} if "number" in names else names


def _types_change(old: frozenset[str], new: frozenset[str]) -> DriftKind | None:
    return None if old == new else "widening" if old < new else "breaking"


def _has_type(value: Any, types: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return not types.isdisjoint(("integer", "number"))
    names = {type(None): "null", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "") in types


def _allowed(schema: JsonMapping) -> dict[str, Any] | None:
    """Return the values that a schema lists and its type takes, by their texts; None where it lists none."""
    if "const" in schema:
        listed = [schema["const"]]
    elif isinstance(schema.get("enum"), list):
        listed = schema["enum"]
    else:
        return None
    types = _types(schema)
    return {canonical(_plain(value)): value for value in listed if _has_type(value, types)}


def _multiple(old: Any, new: Any) -> DriftKind:
    if old is None or new is None:
        return "breaking" if old is None else "widening"
    whole = isinstance(old, int) and isinstance(new, int) and new and old
    return "widening" if whole and old % new == 0 else "breaking" if whole else "unknown"


def _side_words(word: str, old: Any, new: Any) -> str:
    return f"{word} {'added' if old is None else 'removed' if new is None else 'changed'}"


def _names(schema: JsonMapping) -> frozenset[str]:
    said = schema.get("required")
    return frozenset(name for name in said if isinstance(name, str)) if isinstance(said, list) else frozenset()


def _parts_of(schema: JsonMapping, key: str) -> dict[str, Any]:
    said = schema.get(key)
    return dict(said) if isinstance(said, Mapping) else {}


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _plain(value: Any) -> Any:
    """Return a value in which 1.0 is 1, as schemas have it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return {key: _plain(each) for key, each in value.items()} if isinstance(value, Mapping) else value


def _settled(schema: Any) -> str:
    """Return the text of a schema that is the same whatever the order of what has none."""
    return canonical(_plain(_sorted(schema)))


def _sorted(schema: Any, key: str = "") -> Any:
    if isinstance(schema, Mapping):
        return {name: part if name in _VALUES else _sorted(part, name) for name, part in schema.items()}
    if isinstance(schema, list):
        parts = [_sorted(part) for part in schema]
        return sorted(parts, key=lambda part: canonical(_plain(part))) if key in _UNORDERED else parts
    return schema


def _without_words(schema: Any) -> Any:
    """Return a schema without its texts for people and models."""
    if isinstance(schema, list):
        return [_without_words(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {name: _without_words(part) for name, part in value.items()}
        if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping)
        else value
        if key in _VALUES
        else _without_words(value)
        for key, value in schema.items()
        if key not in _WORDS
    }


def _shown(value: object) -> str:
    if value is None or isinstance(value, str):
        return _short(value or "")
    return _short(json.dumps(value, ensure_ascii=False, default=str))


def _short(text: str) -> str:
    return f"{text[:LONGEST_SHOWN]}…" if len(text) > LONGEST_SHOWN else text
