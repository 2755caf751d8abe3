"""Tell whether what a label's matchers admit can conform to a schema, at any depth.

A matcher conforms if some value that it admits does. `exact`, `one_of`, `items` and `fields` are decided; of the
others, and of keywords that say nothing until the whole value is known (`not`, `if`), nothing is said. Where a label
admits a few whole values only, each of them is put to the validator as well, which knows every keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, product
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from toolevals.grading.json_schema.schema_cost import is_too_long
from toolevals.grading.json_schema.subschemas import PATTERNS, Path, subschemas
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, Matcher, OneOf
from toolevals.grading.values.problems import Problem, parts_of, pointer_to
from toolevals.grading.values.verdicts import SchemaProblem
from toolevals.json_types import JsonObject, JsonValue

# So many whole values of one label are put to the validator; a label that admits more is judged part by part.
MOST_VALUES = 256
# `$ref` hides what stands beside it in the drafts before this one.
_LONE_REFERENCES = ("draft-03", "draft-04", "draft-06", "draft-07")
_UNKNOWN = object()
_LEFT_OUT = object()


@dataclass(frozen=True, slots=True)
class Found:
    """The problems of a matcher at one place of a schema. `is_dead`: it admits nothing that conforms."""

    problems: tuple[Problem, ...] = ()
    is_dead: bool = False


FINE = Found()


def _dead(pointer: str, message: str) -> Found:
    return Found((Problem(pointer, message),), is_dead=True)


def _all(parts: Iterable[Found]) -> Found:
    """Return what is wrong where each part has to hold."""
    parts = list(parts)
    problems = dict.fromkeys(problem for part in parts for problem in part.problems)
    return Found(tuple(problems), any(part.is_dead for part in parts))


def _any(parts: list[Found]) -> Found:
    """Return what is wrong where one part is enough: what every one that is left excludes."""
    alive = [part for part in parts if not part.is_dead]
    if not alive:
        # The one that comes nearest says best what is meant.
        return min(parts, key=lambda part: len(part.problems))
    excluded = [{_choice_of(problem.pointer) for problem in part.problems} for part in alive]
    everywhere = set.intersection(*excluded)
    return Found(tuple(each for each in alive[0].problems if _choice_of(each.pointer) in everywhere))


def _choice_of(pointer: str) -> str:
    """Return the pointer to the value of a `one_of` in which a problem lies."""
    before, between, rest = pointer.rpartition("/one_of/")
    return f"{before}{between}{rest.partition('/')[0]}" if between else pointer


def whole_values(matcher: Matcher) -> Iterator[Any]:
    """Yield the values that a matcher admits; `_UNKNOWN` among them where they are not all known."""
    if matcher.optional:
        yield _LEFT_OUT
    match matcher:
        case Absent():
            yield _LEFT_OUT
        case Exact(value=value):
            yield value
        case OneOf(values=values):
            yield from values
        case Items(items=items):
            for chosen in product(*map(_few_values, items)):
                yield _UNKNOWN if any(each is _UNKNOWN for each in chosen) else _put_together(items, chosen)
        case Fields(fields=fields, additional_fields=False):
            for chosen in product(*map(_few_values, fields.values())):
                yield _UNKNOWN if any(each is _UNKNOWN for each in chosen) else _put_together(fields, chosen)
        case _:
            yield _UNKNOWN


def _put_together(parts: Mapping[str, Matcher] | tuple[Matcher, ...], chosen: tuple[object, ...]) -> Any:
    if isinstance(parts, tuple):
        return [value for value in chosen if value is not _LEFT_OUT]
    return {name: value for name, value in zip(parts, chosen, strict=True) if value is not _LEFT_OUT}


def _few_values(matcher: Matcher) -> list[Any]:
    found = list(islice(whole_values(matcher), MOST_VALUES + 1))
    return found if len(found) <= MOST_VALUES else [_UNKNOWN]


def can_follow(root: JsonObject) -> bool:
    """Tell whether references mean places from the root: an identifier inside would change what those below it mean."""
    return not any(path and ("$id" in part or "id" in part) for path, part in subschemas(root))


@dataclass(slots=True)
class MatcherCheck:
    """The check of one call's matchers against its tool's schema.

    `errors_at` validates a value by the subschema at a path; `subject` is what the problems call the outermost object;
    `follows` whether references are followed, see `can_follow`.
    """

    root: JsonObject
    subject: str
    errors_at: Callable[[Path, Any], list[SchemaProblem]]
    follows: bool
    _found: dict[tuple[Path, str], Found] = field(default_factory=dict)
    _lone: bool = field(init=False)

    def __post_init__(self) -> None:
        self._lone = any(draft in str(self.root.get("$schema", "")) for draft in _LONE_REFERENCES)

    def found(self, path: Path, matcher: Matcher, where: str) -> Found:
        """Return what is wrong with a matcher by the subschema at `path`; `where` is the matcher's pointer."""
        if isinstance(matcher, Exact):
            return self._value(path, matcher.value, f"{where}/exact")
        if isinstance(matcher, OneOf):
            each = [self._value(path, value, f"{where}/one_of/{at}") for at, value in enumerate(matcher.values)]
            return Found(_all(each).problems, bool(each) and all(one.is_dead for one in each))
        if not isinstance(matcher, Fields | Items):
            return FINE
        key = (path, where)
        if key not in self._found:
            # A reference that leads back here, by the same value, adds nothing.
            self._found[key] = FINE
            found = self._composite(path, matcher, where)
            self._found[key] = found if found.is_dead else _all([found, self._whole(path, matcher, where)])
        return self._found[key]

    def _value(self, path: Path, value: object, where: str) -> Found:
        errors = self.errors_at(path, value)
        return Found(tuple(Problem(where + each.pointer, each.message) for each in errors), bool(errors))

    def _whole(self, path: Path, matcher: Matcher, where: str) -> Found:
        """Put every whole value that the matcher admits to the validator, where these are few."""
        values = [value for value in _few_values(matcher) if value is not _LEFT_OUT]
        if not values or any(value is _UNKNOWN for value in values):
            return FINE
        nearest: list[SchemaProblem] = []
        for value in values:
            if not (errors := self.errors_at(path, value)):
                return FINE
            if not nearest or len(errors) < len(nearest):
                nearest = errors
        problems = (Problem(_place(matcher, where, parts_of(each.pointer)), each.message) for each in nearest)
        return Found(tuple(dict.fromkeys(problems)), is_dead=True)

    def _composite(self, path: Path, matcher: Fields | Items, where: str) -> Found:
        schema = _at(self.root, path)
        inside = self._inside(where, matcher)
        if schema is False:
            return _dead(inside, "the schema admits no value here")
        if not isinstance(schema, dict):
            return FINE
        reference = [self.found(target, matcher, where)] if (target := self._target(schema)) is not None else []
        if self._lone and "$ref" in schema:
            return _all(reference)
        parts = [*reference, _kind(schema, matcher, inside), _enumerated(schema, matcher, inside)]
        if isinstance(members := schema.get("allOf"), list):
            parts += [self.found((*path, "allOf", at), matcher, where) for at in range(len(members))]
        for keyword in ("anyOf", "oneOf"):
            if isinstance(members := schema.get(keyword), list) and members:
                parts.append(_any([self.found((*path, keyword, at), matcher, where) for at in range(len(members))]))
        by_kind = self._fields if isinstance(matcher, Fields) else self._items
        parts += by_kind(path, schema, matcher, inside)  # type: ignore[arg-type]
        return _all(parts)

    def _inside(self, where: str, matcher: Fields | Items) -> str:
        # The outermost object is a call's arguments, which stand there without a matcher around them.
        return f"{where}/{matcher.kind}" if where else ""

    def _target(self, schema: JsonObject) -> Path | None:
        reference = schema.get("$ref")
        if not self.follows or not isinstance(reference, str) or not (reference == "#" or reference[:2] == "#/"):
            return None
        return _typed(self.root, parts_of(unquote(reference[1:])))

    def _fields(self, path: Path, schema: JsonObject, matcher: Fields, inside: str) -> Iterator[Found]:
        for name, one in matcher.fields.items():
            if not isinstance(one, Absent):
                found = _all(self._field(path, schema, name, one, inside + pointer_to([name])))
                yield Found(found.problems, found.is_dead and not one.optional)
        if isinstance(required := schema.get("required"), list):
            yield from self._required(matcher, required, inside)
        given = [one for one in matcher.fields.values() if not isinstance(one, Absent)]
        most, fewest = _count(schema, "maxProperties"), _count(schema, "minProperties")
        if most is not None and sum(not one.optional for one in given) > most:
            yield _dead(inside, f"the schema admits {most} properties at most")
        if fewest is not None and len(given) < fewest and not matcher.additional_fields:
            yield _dead(inside, f"the schema asks for {fewest} properties at least")

    def _field(self, path: Path, schema: JsonObject, name: str, one: Matcher, where: str) -> Iterator[Found]:
        """Yield what is wrong with one field, by each part of the schema that says something of it."""
        known = schema.get("properties")
        is_known = isinstance(known, dict) and name in known
        if is_known:
            yield self.found((*path, "properties", name), one, where)
        patterns = schema.get("patternProperties")
        for pattern in patterns if isinstance(patterns, dict) else ():
            if is_too_long(pattern, name):
                # No one knows whether it is such a property, and so nothing is said of it.
                is_known = True
            elif _is_found(pattern, name):
                is_known = True
                yield self.found((*path, "patternProperties", pattern), one, where)
        if not is_known and "additionalProperties" in schema:
            if schema["additionalProperties"] is False:
                yield _dead(where, f"{self._called(where)} has no property {name}")
            else:
                yield self.found((*path, "additionalProperties"), one, where)
        if "propertyNames" in schema and (errors := self.errors_at((*path, "propertyNames"), name)):
            yield _dead(where, errors[0].message)

    def _called(self, where: str) -> str:
        return self.subject if where.count("/") == 1 else "the object here"

    def _required(self, matcher: Fields, required: list[Any], inside: str) -> Iterator[Found]:
        called = "the object here" if inside else self.subject
        for name in required:
            one = matcher.fields.get(name)
            if isinstance(one, Absent):
                where = inside + pointer_to([name])
                yield _dead(where, f"{called} requires {name}, so it cannot be absent")
            elif one is None and not matcher.additional_fields:
                yield _dead(inside, f"{called} requires {name}, which the label leaves no room for")

    def _items(self, path: Path, schema: JsonObject, matcher: Items, inside: str) -> Iterator[Found]:
        count = len(matcher.items)
        most, fewest = _count(schema, "maxItems"), _count(schema, "minItems")
        if most is not None and count > most:
            yield _dead(inside, f"has {count} items; the schema admits {most} at most")
        if fewest is not None and count < fewest:
            yield _dead(inside, f"has {count} items; the schema asks for {fewest} at least")
        first = "prefixItems" if isinstance(schema.get("prefixItems"), list) else "items"
        listed = len(schema[first]) if isinstance(schema.get(first), list) else 0
        others = "additionalItems" if first == "items" and listed else "items"
        for at, one in enumerate(matcher.items):
            if at < listed:
                yield self.found((*path, first, at), one, f"{inside}/{at}")
            elif schema.get(others) is False:
                yield _dead(f"{inside}/{at}", f"the schema admits {listed} items at most")
            elif others in schema:
                yield self.found((*path, others), one, f"{inside}/{at}")


@lru_cache(maxsize=4096)
def _is_found(pattern: str, name: str) -> bool:
    return jsonschema_rs.is_valid({"pattern": pattern}, name, pattern_options=PATTERNS, offline=True)


def _typed(root: JsonObject, parts: Iterable[str]) -> Path | None:
    """Return a pointer's parts as a path: a number where there is a list. None where nothing is there."""
    made: list[str | int] = []
    value: JsonValue = root
    for part in parts:
        key: str | int = int(part) if isinstance(value, list) and part.isdecimal() else part
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
        made.append(key)
    return tuple(made)


def _at(root: JsonObject, path: Path) -> Any:
    value: JsonValue = root
    for part in path:
        value = value[part]
    return value


def _count(schema: JsonObject, keyword: str) -> int | None:
    value = schema.get(keyword)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _kind(schema: JsonObject, matcher: Fields | Items, inside: str) -> Found:
    kind = "object" if isinstance(matcher, Fields) else "array"
    said = schema.get("type", kind)
    admitted = said if isinstance(said, list) else [said]
    if kind in admitted:
        return FINE
    return _dead(inside, f"is an {kind}; the schema asks for {' or '.join(map(str, admitted))}")


def _enumerated(schema: JsonObject, matcher: Matcher, inside: str) -> Found:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list) or any(_may_be(matcher, value) for value in values):
        return FINE
    return _dead(inside, "admits none of the values that the schema lists")


def _may_be(matcher: Matcher, value: object) -> bool:
    """Tell whether a matcher may admit a value, as far as it is decided."""
    match matcher:
        case Exact(value=one):
            return _same(one, value)
        case OneOf(values=several):
            return any(_same(one, value) for one in several)
        case Items(items=items):
            return isinstance(value, list) and len(value) == len(items) and all(map(_may_be, items, value))
        case Fields(fields=fields):
            return isinstance(value, dict) and all(
                _may_be(one, value[name]) if name in value else one.optional or isinstance(one, Absent)
                for name, one in fields.items()
            )
    return True


def _same(left: object, right: object) -> bool:
    return jsonschema_rs.is_valid({"const": right}, left)


def _place(matcher: Matcher, where: str, path: tuple[str, ...]) -> str:
    """Return the pointer into a label for a path into a value that it admits."""
    match matcher:
        case Exact():
            return f"{where}/exact{pointer_to(path)}"
        case OneOf():
            return f"{where}/one_of"
        case Fields(fields=fields):
            inside = f"{where}/fields" if where else ""
            known = path and path[0] in fields
            return _place(fields[path[0]], inside + pointer_to(path[:1]), path[1:]) if known else inside
        case Items(items=items):
            at = int(path[0]) if path and path[0].isdecimal() else len(items)
            inside = f"{where}/items"
            return _place(items[at], f"{inside}/{at}", path[1:]) if at < len(items) else inside
    return where
