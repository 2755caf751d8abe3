"""Divide the classes of a matrix: tools as called, merged, or split by a second output (Neo, CHI 2022)."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from labeling.coverage.expected import calls_of
from labeling.models import VersionEntry
from reports.filters.case_filters import STATUSES, Effect, Filters, Split
from reports.filters.sums import effects_by_name
from toolevals.grading.metrics.confusion import EVERY, SPECIAL, collapsed_class, set_class, tools_of_class
from toolevals.grading.values.canonical import canonical, digest
from toolevals.json_types import JsonMapping
from toolevals.presentation.numbers import DIVIDER
from toolevals.runs.aggregates.cube import Cell
from toolevals.runs.models import Grading

# So many values are parts of their own, the most frequent in the gold.
MOST_VALUES: Final = 8
OTHER: Final = "(other)"
ABSENT: Final = "(absent)"
# The argument is expected, but not with one value: a range, a pattern, anything.
UNNAMED: Final = "(no one value)"
# Values longer than this are cut, and told apart by a digest.
LONGEST_VALUE: Final = 60
_CHUNK: Final = 5000
# Of so many arguments the values stay in the memory of a process, some bytes an example.
_MOST_HELD: Final = 8
# What stands where nothing is: null is a value.
_NOTHING: Final = object()
_MARK: Final = DIVIDER.strip()
# What the gold says of one example: of each tool that it expects with the argument, the value.
Said = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GoldValues:
    """The values of one argument that the gold of a grading expects.

    `parts` are the values as parts of a class, in the order in which they stand; `tools` those that are expected with
    the argument anywhere. `said` are the distinct things said of an example, and `places` which of them is said, by
    the example's position in the run's version.
    """

    parts: tuple[str, ...]
    tools: frozenset[str]
    said: tuple[Mapping[str, str], ...]
    places: array[int]

    def part(self, position: int, expected: str) -> str:
        """Return the part that an example stands in where a tool, or a set of tools, is expected."""
        said = self.said[self.places[position]] if position < len(self.places) else {}
        named = (said[tool] for tool in map(compared_name, tools_of_class(expected)) if tool in said)
        return next(named, ABSENT)


def gold_values(grading: Grading, argument: str) -> GoldValues:
    """Return what a grading's gold expects of an argument, a JSON pointer. Reads every gold once, then holds it."""
    return _gold_values(grading.run.dataset_version_id, grading.dataset_version_id, argument)


def compared_name(tool: str) -> str:
    """Return a tool's name in the form in which gold and offer are put together: some profiles read a dot as a dash."""
    return tool.replace(".", "_")


@lru_cache(maxsize=_MOST_HELD)
def _gold_values(run_version: UUID, version: UUID, argument: str) -> GoldValues:
    path = [part.replace("~1", "/").replace("~0", "~") for part in argument.split("/")[1:]]
    numbers: dict[Said, int] = {(): 0}
    tools: set[str] = set()
    places = array("I")
    counts: Counter[int] = Counter()
    for position, expectation in _golds(run_version, version):
        found: dict[str, str] = {}
        for tool, value in _values(expectation, path):
            tools.add(tool)
            found.setdefault(compared_name(tool), value)
        number = numbers.setdefault(tuple(found.items()), len(numbers))
        if position >= len(places):
            places.extend([0] * (position + 1 - len(places)))
        places[position] = number
        counts[number] += 1
    frequent = _frequent(numbers, counts)
    known = {*frequent, UNNAMED, ABSENT}
    said = tuple({tool: value if value in known else OTHER for tool, value in each} for each in numbers)
    return GoldValues((*frequent, OTHER, UNNAMED, ABSENT), frozenset(tools), said, places)


def _golds(run_version: UUID, version: UUID) -> Iterator[tuple[int, Any]]:
    """Yield position in the run's version and expectation in the graded one, example by example."""
    graded = VersionEntry.objects.filter(version=version).order_by()
    if run_version == version:
        yield from graded.values_list("position", "gold__expectation").iterator(chunk_size=_CHUNK)
        return
    entries = VersionEntry.objects.filter(version=run_version).order_by()
    positions = dict(entries.values_list("revision", "position").iterator(chunk_size=_CHUNK))
    for revision, expectation in graded.values_list("revision", "gold__expectation").iterator(chunk_size=_CHUNK):
        if revision in positions:
            yield positions[revision], expectation


def _frequent(numbers: Mapping[Said, int], counts: Mapping[int, int]) -> tuple[str, ...]:
    """Return the values that are parts of their own, the most frequent first; of equally frequent ones by name."""
    totals: Counter[str] = Counter()
    for said, number in numbers.items():
        for _, value in said:
            totals[value] += counts[number]
    values = sorted(totals.keys() - {UNNAMED, ABSENT}, key=lambda value: (-totals[value], value))
    return tuple(values[:MOST_VALUES])


def _values(expectation: JsonMapping, path: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each expected call's tool and value, where the call says something of the argument."""
    for alternative in expectation.get("alternatives", ()):
        for call in calls_of({"alternatives": [alternative]}):
            matcher = call.get("arguments", {}).get(path[0])
            if matcher is not None and (value := _value(matcher, path[1:])) != ABSENT:
                yield call["tool"], value


def _value(matcher: JsonMapping, path: list[str]) -> str:
    """Return the value that a matcher names at a path; of several that it accepts the first."""
    if "absent" in matcher:
        return ABSENT
    for inside in ("fields", "items"):
        if inside in matcher:
            if not path:
                return UNNAMED
            within = _within(matcher[inside], path[0])
            return ABSENT if within is _NOTHING else _value(within, path[1:])
    if "exact" in matcher:
        return _written(matcher["exact"], path)
    if matcher.get("one_of"):
        return _written(matcher["one_of"][0], path)
    for kind, name in (("date_equal", "date"), ("approximately", "value")):
        if kind in matcher:
            content = matcher[kind]
            return _written(content[name] if isinstance(content, Mapping) else content, path)
    return UNNAMED


def _written(value: Any, path: list[str]) -> str:
    """Return what lies at a path in a value, as JSON text in which nothing looks like the sign between class and part.

    `(absent)` where nothing is there.
    """
    for name in path:
        value = _within(value, name)
        if value is _NOTHING:
            return ABSENT
    text = canonical(value).replace(_MARK, f"\\u{ord(_MARK):04x}")
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 12]}… {digest(value)[:8]}"


def _within(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name, _NOTHING)
    if isinstance(value, list) and name.isascii() and name.isdigit():
        return value[int(name)] if len(name) < 9 and int(name) < len(value) else _NOTHING
    return _NOTHING


_OUTCOMES: Final = dict(zip(STATUSES, ("right", "wrong", "unscored", "errored"), strict=True))
_EFFECTS: Final = {Effect.READ: "read", Effect.WRITE: "write", Effect.UNSAID: "unsaid"}
# The class of all tools of one effect, taken together.
EFFECT_CLASSES: Final = {
    Effect.READ: "(read-only tools)",
    Effect.WRITE: "(writing tools)",
    Effect.UNSAID: "(tools with unknown effect)",
}


@dataclass(frozen=True, slots=True)
class Classing:
    """The way that matrix classes follow from the expected and the called tools; every sum stays the same.

    `effects` by tool where classes are divided by them, on both sides. The verdict on the arguments is of the call,
    thus it divides the called side alone; an argument's value in the gold is of what is expected, thus it divides that
    side alone, and of it the classes that hold one of `tools`, which are expected with the argument. Classes that are
    no tools stay whole.
    """

    collapse: tuple[str, ...]
    split: Split
    effects: Mapping[str, Effect]
    tools: frozenset[str] = frozenset()

    def class_of(self, name: str) -> str:
        """Return the class that a tool or set of tools counts in: `pay · write`, `math.*`, `(writing tools)`."""
        if self.split is not Split.EFFECT or name in SPECIAL:
            return collapsed_class(name, self.collapse)
        tools = {tool: self.effects.get(tool, Effect.UNSAID) for tool in tools_of_class(name)}
        found = set_class(self._folded(tool, effect) for tool, effect in tools.items())
        if found in EFFECT_CLASSES.values():
            return found
        return found + DIVIDER + " + ".join(words for effect, words in _EFFECTS.items() if effect in tools.values())

    def cells(self, parts: Mapping[str, Mapping[Cell, Any]]) -> dict[Cell, Any]:
        """Return sums by cell of the matrix from those by what divides and cell of the tools.

        That is the verdict on the arguments, or the value that is expected; else everything is under "".
        """
        if not self.collapse and self.split is Split.NOTHING:
            return dict(parts[""])
        names = {name for cells in parts.values() for cell in cells for name in cell}
        classes = {name: self.class_of(name) for name in names}
        found: dict[Cell, Any] = {}
        by_value = self.split is Split.VALUE
        divisible = self._divisible() if by_value else frozenset()
        for part, cells in parts.items():
            if by_value:
                due = {name: value_part(each, part, divisible) for name, each in classes.items()}
                called = classes
            else:
                due, called = classes, {name: divided_by(each, part) for name, each in classes.items()}
            for (expected, actual), value in cells.items():
                cell = due[expected], called[actual]
                found[cell] = found[cell] + value if cell in found else value
        return found

    def _divisible(self) -> frozenset[str]:
        """Return the classes of the tools that are expected with the argument."""
        names = {form for tool in self.tools for form in (tool, compared_name(tool))}
        return frozenset(collapsed_class(name, self.collapse) for name in names)

    def _folded(self, tool: str, effect: Effect) -> str:
        whole = EFFECT_CLASSES[effect]
        return whole if EVERY in self.collapse or whole in self.collapse else collapsed_class(tool, self.collapse)


def classing_of(grading: Grading, filters: Filters) -> Classing:
    """Return how filters class the tools of a grading."""
    effects = effects_by_name(grading) if filters.split is Split.EFFECT else {}
    by_value = filters.split is Split.VALUE
    tools = gold_values(grading, filters.split_argument).tools if by_value else frozenset()
    return Classing(filters.collapse, filters.split, effects, tools)


def divided_by(name: str, status: str) -> str:
    """Return the part of a called class whose cases have this verdict on their arguments; "" is the whole."""
    return name if not status or name in SPECIAL else name + DIVIDER + _OUTCOMES[status]


def part_of(name: str, split: Split) -> tuple[str, str]:
    """Return the whole that a called class is a part of, and the verdict on the arguments there; "" for a whole."""
    whole, _, words = name.rpartition(DIVIDER)
    if split is not Split.ARGUMENTS or not whole:
        return name, ""
    return next(((whole, status) for status, each in _OUTCOMES.items() if each == words), (name, ""))


def value_part(name: str, value: str, divisible: Collection[str]) -> str:
    """Return the part of an expected class with a value; whole where none of its tools is expected with the argument.

    A name that looks like a part is always divided, so that no whole is taken for one.
    """
    if name in SPECIAL or not (DIVIDER in name or any(tool in divisible for tool in tools_of_class(name))):
        return name
    return name + DIVIDER + value


def expected_part_of(name: str, split: Split) -> tuple[str, str]:
    """Return the whole that an expected class is a part of, and the value there; "" for a whole."""
    whole, _, value = name.rpartition(DIVIDER)
    return (whole, value) if split is Split.VALUE and whole and value else (name, "")


def without_effect(name: str, split: Split) -> str:
    """Return the tool, set of tools or namespace that a class is of, where effects divide."""
    whole, _, _ = name.rpartition(DIVIDER)
    return whole if whole and split is Split.EFFECT else name


def block_of(name: str, split: Split) -> int:
    """Return the number of the block that a class stands in: by effect, those of several effects last."""
    if split is not Split.EFFECT or name in SPECIAL:
        return 0
    blocks = [*EFFECT_CLASSES.values(), *_EFFECTS.values()]
    words = name if name in blocks else name.rpartition(DIVIDER)[2]
    return blocks.index(words) % len(_EFFECTS) if words in blocks else len(_EFFECTS)
