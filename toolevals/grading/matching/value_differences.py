"""Tell where two JSON values differ, path by path, in time linear in their size.

Parts that are one object in memory are passed over, so that states which share what did not change cost next to
nothing; records that are written alike as JSON text are passed over at the speed of the JSON writer.

Tell what changed between two states, as a JSON Patch (RFC 6902): all of a final state that needs to be kept.

Only the operations add, replace and remove, at members of objects; a list that changed is replaced as a whole, so
that the order of the operations does not matter.

Sets the arguments of one expected call next to those of the actual one, path by path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import zip_longest
from typing import Any, Final, TypeAlias

import orjson

from toolevals.grading.matching.compiled_calls import CompiledCall, compile_call
from toolevals.grading.matching.equality import Profile
from toolevals.grading.values import CallExpectation
from toolevals.grading.values.matchers import Exact, Fields, Items, Matcher
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.grading.values.verdicts import ArgumentDifference, DifferenceKind
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

# An argument with more parts than this is shown whole: no one reads so many, and every case is kept.
MOST_PARTS = 100


def argument_differences(
    expected: CompiledCall, actual: JsonMapping, profile: Profile, pair: int
) -> Iterator[ArgumentDifference]:
    """Yield every argument that is expected or there, equal ones included.

    Objects and lists are opened where they are wrong, down to the part that is: an equal part is one difference of
    kind "same", whatever is in it. Lists are compared place by place. An argument that no one asked for and that is
    allowed is "same" with nothing expected.
    """
    return _differences(expected, actual, profile, pair, "")


def _differences(
    expected: CompiledCall, actual: JsonMapping, profile: Profile, pair: int, path: str
) -> Iterator[ArgumentDifference]:
    for name, argument in expected.arguments.items():
        here = path + argument.pointer
        if name not in actual:
            if argument.required:
                yield ArgumentDifference(here, argument.document, None, "missing", pair)
        elif argument.forbidden:
            yield ArgumentDifference(here, argument.document, actual[name], "extra", pair)
        elif argument.test(actual[name]) is not False:
            yield ArgumentDifference(here, argument.document, actual[name], "same", pair)
        elif isinstance(actual[name], dict | list | tuple):
            yield from _wrong(argument.matcher, actual[name], profile, pair, here)
        else:
            yield ArgumentDifference(here, argument.document, actual[name], "changed", pair)
    for name in actual:
        if name not in expected.arguments:
            kind: DifferenceKind = "same" if expected.expectation.additional_arguments else "extra"
            yield ArgumentDifference(path + pointer_to((name,)), None, actual[name], kind, pair)


def _wrong(matcher: Matcher, value: object, profile: Profile, pair: int, path: str) -> list[ArgumentDifference]:
    parts = _parts(matcher, value, profile, pair, path)
    if parts is None or len(parts) > MOST_PARTS:
        return [ArgumentDifference(path, matcher.to_document(), value, "changed", pair)]
    return parts


def _parts(matcher: Matcher, value: object, profile: Profile, pair: int, path: str) -> list[ArgumentDifference] | None:
    """Return a wrong value's parts; None where it cannot be opened."""
    if isinstance(matcher, Exact):
        values = _Values(profile, pair)
        values.compare(matcher.value, value, path)
        return None if values.found[0].path == path else values.found
    fields, inside = matcher, value
    if isinstance(matcher, Items) and isinstance(value, list):
        # An item cannot be left out.
        fields = Fields({str(place): replace(item, optional=False) for place, item in enumerate(matcher.items)})
        inside = {str(place): item for place, item in enumerate(value)}
    if isinstance(fields, Fields) and isinstance(inside, dict):
        call = compile_call(CallExpectation("", fields.fields, fields.additional_fields), profile)
        return list(_differences(call, inside, profile, pair, path))
    return None


# What stands beside an item that the other list lacks.
_NOTHING = object()


@dataclass(slots=True)
class _Values:
    """Two values compared in one walk, however deep they are, so that each part is looked at once."""

    profile: Profile
    pair: int
    found: list[ArgumentDifference] = field(default_factory=list)

    def compare(self, expected: object, actual: object, path: str) -> bool:
        """Add the differences between two values, or that they are the same, and tell which."""
        if expected is _NOTHING or actual is _NOTHING:
            return self._add(path, expected, actual, "extra" if expected is _NOTHING else "missing")
        if isinstance(expected, dict) and isinstance(actual, dict):
            keys = [*expected, *(key for key in actual if key not in expected)]
            parts = [(key, expected.get(key, _NOTHING), actual.get(key, _NOTHING)) for key in keys]
        elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
            places = zip_longest(expected, actual, fillvalue=_NOTHING)
            parts = [(str(place), *each) for place, each in enumerate(places)]
        else:
            return self._add(path, expected, actual, "same" if self.profile.equal(expected, actual) else "changed")
        before = len(self.found)
        same = [self.compare(one, other, path + pointer_to((name,))) for name, one, other in parts]
        if not all(same):
            return False
        del self.found[before:]
        return self._add(path, expected, actual, "same")

    def _add(self, path: str, expected: object, actual: object, kind: DifferenceKind) -> bool:
        wanted = None if expected is _NOTHING else {"exact": expected}
        given = None if actual is _NOTHING else actual
        self.found.append(ArgumentDifference(path, wanted, given, kind, self.pair))
        return kind == "same"


class Absent(Enum):
    """The type of ABSENT: there is no value here, not even null."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT

Path: TypeAlias = tuple[str | int, ...]
# A path from the root, newest step first: the way so far and a key or place. None is the root.
_Way: TypeAlias = "tuple[_Way, str | int] | None"
# A step and what stands there: before, expected, actual.
_Part: TypeAlias = tuple[str | int, tuple[Any, Any, Any]]
_List: TypeAlias = "list[Any] | tuple[Any, ...]"

# Keys by which two items of a list are the same item: the first that serves, then any key that ends in `_id`.
ID_KEYS = ("id", "_id", "uuid", "key")
_MOST_ID_KEYS = 8
# Records stand at /table/record.
_RECORD_DEPTH = 2
# Deeper down, lists of different lengths are compared place by place.
_DEEPEST_TRIM = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the actual value is not the expected one; ABSENT where a side has nothing.

    `path` leads into the actual value; where that has nothing, the last step is the expected one's. `initial` is what
    was there before, ABSENT where that was nothing or is not known.
    """

    path: Path
    initial: Any
    expected: JsonValue
    actual: JsonValue


def same(one: object, other: object) -> bool:
    """Tell whether two JSON values are equal: numbers by value, a boolean only with a boolean, text to the letter."""
    return next(differing(ABSENT, one, other), None) is None


def differing(initial: object, expected: object, actual: object) -> Iterator[Difference]:
    """Yield every difference between two JSON values, each at the deepest place that shows it.

    Objects are compared key by key. Lists of objects that have an id are compared item by item under that id (see
    ID_KEYS; it must be unique in each list), as long as the items that both have come in the same order; in another
    order the lists differ as a whole. Other lists are compared place by place, after what they have in common at
    both ends where their lengths differ.
    """
    waiting: list[tuple[_Way, int, Any, Any, Any]] = [(None, 0, initial, expected, actual)]
    while waiting:
        way, depth, before, wanted, found = waiting.pop()
        if wanted is found or (depth == _RECORD_DEPTH and _written_alike(wanted, found)):
            continue
        parts: list[_Part] | None = None
        if isinstance(wanted, dict) and isinstance(found, dict):
            parts = _parts_of_objects(before, wanted, found)
        elif isinstance(wanted, list | tuple) and isinstance(found, list | tuple):
            parts = _parts_of_lists(before, wanted, found, trim=depth <= _DEEPEST_TRIM)
        elif _scalars_equal(wanted, found):
            continue
        if parts is None:
            yield Difference(_path(way), before, wanted, found)
            continue
        waiting.extend(((way, step), depth + 1, *values) for step, values in reversed(parts))


def _path(way: _Way) -> Path:
    steps: list[str | int] = []
    while way is not None:
        way, step = way
        steps.append(step)
    return tuple(reversed(steps))


def _scalars_equal(one: object, other: object) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict | list | tuple) or isinstance(other, dict | list | tuple):
        return False
    return bool(one == other)


def _written_alike(one: object, other: object) -> bool:
    """Tell whether two values have the same JSON text; equal values may have different ones (1 and 1.0)."""
    try:
        text = orjson.dumps(one)
        if text != orjson.dumps(other):
            return False
    except TypeError:
        return False  # not JSON, or too deep or too large a number for the writer: to be walked
    # NaN is written as null.
    return b"null" not in text or bool(one == other)


def _parts_of_objects(before: object, expected: JsonObject, actual: JsonObject) -> list[_Part]:
    known = before if isinstance(before, dict) else {}
    parts: list[_Part] = [
        (key, (known.get(key, ABSENT), value, actual.get(key, ABSENT)))
        for key, value in expected.items()
        if value is not actual.get(key, ABSENT)
    ]
    parts.extend((key, (known.get(key, ABSENT), ABSENT, value)) for key, value in actual.items() if key not in expected)
    return parts


def _parts_of_lists(before: object, expected: _List, actual: _List, *, trim: bool) -> list[_Part] | None:
    known = before if isinstance(before, list | tuple) else ()
    key = _id_key(expected, actual)
    if key is not None:
        return _parts_by_id(key, known, expected, actual)
    start = 0
    shorter = min(len(expected), len(actual))
    ends = len(expected), len(actual)
    if trim and len(expected) != len(actual):
        while start < shorter and _written_alike(expected[start], actual[start]):
            start += 1
        common = 0
        while common < shorter - start and _written_alike(expected[-1 - common], actual[-1 - common]):
            common += 1
        ends = len(expected) - common, len(actual) - common
    return [
        (
            place,
            (
                known[place] if place < len(known) else ABSENT,
                expected[place] if place < ends[0] else ABSENT,
                actual[place] if place < ends[1] else ABSENT,
            ),
        )
        for place in range(start, max(ends))
    ]


def _id_key(*lists: _List) -> str | None:
    """Return the key that names the items of these lists, None where there is none."""
    first = next((items[0] for items in lists if items), None)
    if not isinstance(first, dict):
        return None
    own = [key for key in first if isinstance(key, str) and key.endswith("_id") and key not in ID_KEYS]
    candidates = [*(key for key in ID_KEYS if key in first), *own[:_MOST_ID_KEYS]]
    return next((key for key in candidates if all(_names_items(key, items) for items in lists)), None)


def _names_items(key: str, items: _List) -> bool:
    names = [item.get(key) for item in items if isinstance(item, dict)]
    texts = {name for name in names if isinstance(name, str)}
    numbers = {name for name in names if isinstance(name, int) and not isinstance(name, bool)}
    return len(texts) + len(numbers) == len(items)


def _parts_by_id(key: str, before: _List, wanted: _List, found: _List) -> list[_Part] | None:
    known = {item[key]: item for item in before if isinstance(item, dict) and isinstance(item.get(key), str | int)}
    expected = {item[key]: place for place, item in enumerate(wanted)}
    actual = {item[key]: place for place, item in enumerate(found)}
    if [name for name in expected if name in actual] != [name for name in actual if name in expected]:
        return None
    parts: list[_Part] = [
        (
            actual.get(name, place),
            (known.get(name, ABSENT), wanted[place], found[actual[name]] if name in actual else ABSENT),
        )
        for name, place in expected.items()
    ]
    parts.extend(
        (place, (known.get(name, ABSENT), ABSENT, found[place]))
        for name, place in actual.items()
        if name not in expected
    )
    return parts


def state_patch(before: JsonMapping, after: JsonMapping) -> list[JsonObject]:
    """Return the operations that make `after` of `before`; none where they are equal as JSON.

    Linear in what is not one object in both.
    """
    return list(_operations(before, after))


def _operations(before: JsonMapping, after: JsonMapping) -> Iterator[JsonObject]:
    waiting: list[tuple[Path, JsonMapping, JsonMapping]] = [((), before, after)]
    while waiting:
        path, old, new = waiting.pop()
        for key in old:
            if key not in new:
                yield {"op": "remove", "path": pointer_to((*path, key))}
        for key, value in new.items():
            here = (*path, key)
            if key not in old:
                yield {"op": "add", "path": pointer_to(here), "value": value}
            elif value is old[key]:
                continue
            elif isinstance(value, Mapping) and isinstance(old[key], Mapping):
                waiting.append((here, old[key], value))
            elif not same(old[key], value):
                yield {"op": "replace", "path": pointer_to(here), "value": value}


def patched(before: JsonMapping, patch: Sequence[JsonMapping]) -> JsonMapping:
    """Return the state that the operations make of `before`, which stays; what they leave alone is shared with it.

    Without an operation it is `before` itself. Raises InvalidDocument where an operation does not fit the state.
    """
    if len(patch) == 0:
        return before
    state: JsonObject = dict(before)
    # The objects that are this state's own by now, by identity; kept, so that no other gets theirs.
    own: dict[int, JsonObject] = {id(state): state}
    for place, operation in enumerate(patch):
        at = state
        *way, last = _steps(operation["path"])
        for step in way:
            inner = at.get(step)
            if not isinstance(inner, Mapping):
                raise InvalidDocument.at(f"/{place}/path", "leads to no object of the state")
            if id(inner) not in own:
                at[step] = inner = dict(inner)
                own[id(inner)] = inner
            at = own[id(inner)]
        _apply(at, last, operation, place)
    return state


def _apply(at: JsonObject, key: str, operation: JsonMapping, place: int) -> None:
    if (operation["op"] == "add") is (key in at):
        raise InvalidDocument.at(f"/{place}/path", "does not fit the state")
    if operation["op"] == "remove":
        del at[key]
    else:
        at[key] = operation["value"]


def _steps(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
