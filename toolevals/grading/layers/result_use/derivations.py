"""Derives what no field holds as it stands from the fields of one list or one object, and names them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from toolevals.grading.layers.result_use.payloads import FieldValue, field_name
from toolevals.grading.layers.result_use.sources import ResultText, Sources
from toolevals.grading.layers.result_use.units import UNITS, Measure, converted, suits
from toolevals.grading.layers.result_use.values import Mention

# Values of a result that are counted and added up; fields that make one sum; those that make differences.
MAX_VALUES = 4_000
MAX_ADDED = 200
MAX_PAIRED = 4
_DAY = 86_400
_NUMBER = itemgetter(0, 1)


class Derivation(NamedTuple):
    """A number that follows from fields: the rule, their places, and the pointer of a list that is counted."""

    number: float
    rule: str
    fields: tuple[int, ...] = ()
    result: int = 0
    pointer: str = ""


_Kept: TypeAlias = tuple[float, int, Derivation]


@dataclass(slots=True)
class Derivations:
    """Counts, sums, means, differences and durations of the results; they grow with the results."""

    sources: Sources
    _numbers: dict[Measure | None, list[_Kept]] = field(default_factory=dict)
    _seconds: list[_Kept] = field(default_factory=list)
    _done: int = 0

    def of(self, mention: Mention, tolerance: float) -> Derivation | None:
        """Return from what a number follows, None where it follows from nothing.

        Its unit must be the fields'; a count has none. A number up to twelve without a unit follows from a count alone.
        """
        self._catch_up()
        if mention.kind == "duration" and UNITS[mention.unit].dimension == "time":
            factor = UNITS[mention.unit].factor
            found = next(_near(self._seconds, mention.value * factor, tolerance * factor), None)
            if found is not None:
                return found
        if mention.unit == "cents":
            return self._number(mention._replace(keys=(mention.value / 100,), unit=""), tolerance / 100)
        return self._number(mention, tolerance)

    def _number(self, mention: Mention, tolerance: float) -> Derivation | None:
        for measure, kept in self._numbers.items():
            scale = (None if mention.unit else 1.0) if measure is None else _scale(mention.unit, measure)
            if scale is None or (mention.is_weak and measure is not None):
                continue
            found = next(_near(kept, mention.value * scale, tolerance * scale), None)
            if found is not None:
                return found
        return None

    def _catch_up(self) -> None:
        if self._done == len(self.sources.results):
            return
        for place in range(self._done, len(self.sources.results)):
            for each in self._read(place, self.sources.results[place]):
                measure = self.sources.values[each.fields[0]].measure if each.fields else None
                kept = self._seconds if each.rule == "elapsed" else self._numbers.setdefault(measure, [])
                kept.append((each.number, len(kept), each))
        self._done = len(self.sources.results)
        for kept in (self._seconds, *self._numbers.values()):
            kept.sort(key=_NUMBER)

    def _read(self, place: int, result: ResultText) -> Iterator[Derivation]:
        for path, length in result.payload.lists.items():
            yield Derivation(float(length), "count", (), place, path)
        leaves = [leaf for leaf in result.payload.leaves[:MAX_VALUES] if isinstance(leaf.value, bool | str)]
        for (name, _), count in Counter((field_name(leaf.path), leaf.value) for leaf in leaves).items():
            pointer = next(leaf.pointer for leaf in leaves if field_name(leaf.path) == name)
            yield Derivation(float(count), "count", (), place, pointer)
        groups: dict[tuple[str, str, str], list[int]] = {}
        moments: dict[tuple[str, int], list[int]] = {}
        for position in result.values[:MAX_VALUES]:
            value = self.sources.values[position]
            if isinstance(value.key, tuple):
                moments.setdefault((value.container, len(value.key)), []).append(position)
            for group in _groups_of(value) if isinstance(value.key, int | float) else ():
                groups.setdefault(group, []).append(position)
        for positions in groups.values():
            yield from self._totals(positions)
        for positions in moments.values():
            yield from self._gaps(positions[:MAX_PAIRED])

    def _totals(self, positions: Sequence[int]) -> Iterator[Derivation]:
        if not 1 < len(positions) <= MAX_ADDED:
            return
        numbers, whole = [self.sources.values[position].number for position in positions], tuple(positions)
        yield Derivation(sum(numbers), "sum", whole)
        yield Derivation(sum(numbers) / len(numbers), "mean", whole)
        pairs = list(zip(positions, numbers, strict=True)) if len(positions) <= MAX_PAIRED else []
        for (one, left), (other, right) in combinations(pairs, 2):
            yield Derivation(abs(left - right), "difference", (one, other))

    def _gaps(self, positions: Sequence[int]) -> Iterator[Derivation]:
        """Yield the seconds between the dates, and those between the times, of one object."""
        for one, other in combinations(positions, 2):
            left, right = self.sources.values[one].key, self.sources.values[other].key
            if not isinstance(left, tuple) or not isinstance(right, tuple):
                continue
            if len(left) == 1:
                yield Derivation((right[0] - left[0]) % 1440 * 60.0, "elapsed", (one, other))
            elif len(left) == 3 and len(right) == 3 and (days := _days_between(left, right)) is not None:
                yield Derivation(days * _DAY, "elapsed", (one, other))


def _groups_of(value: FieldValue) -> Iterator[tuple[str, str, str]]:
    """Yield what a number may be added up within: its column of a list, the list itself, its object's unit."""
    measure = f"{value.measure.name} {value.measure.is_money}"
    head, last = value.container, value.path.rpartition("/")[2]
    if last.isdigit():
        yield head, "", measure
        return
    outer, _, row = head.rpartition("/")
    if row.isdigit():
        yield outer, last, measure
    if value.measure.name or value.measure.is_money:
        yield head, "", measure


def _days_between(left: tuple[int, int, int], right: tuple[int, int, int]) -> float | None:
    try:
        return float(abs((date(*left) - date(*right)).days))
    except ValueError:
        return None


def _scale(unit: str, measure: Measure) -> float | None:
    """Return by what a number of a unit is multiplied to be one of a measure; None where it cannot be one."""
    if suits(unit, measure):
        return 1.0
    one, none = converted(1.0, unit, measure.unit), converted(0.0, unit, measure.unit)
    return None if one is None or none is None else one - none


def _near(kept: Sequence[_Kept], number: float, tolerance: float) -> Iterator[Derivation]:
    margin = tolerance + abs(number) * 1e-9
    for place in range(bisect_left(kept, number - margin, key=itemgetter(0)), len(kept)):
        if kept[place][0] > number + margin:
            return
        yield kept[place][2]
