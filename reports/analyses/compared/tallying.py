"""Work out how many examples have which parts of a cell, and which counts of a class, before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from reports.analyses.compared.pairing import Weighed
from toolevals.grading.metrics.paired_classes import ClassCounts

NOTHING: Final[ClassCounts] = (0, 0, 0)
Parts = Mapping[int, int]
# (place before, place after, examples): see Weighed.
Row = tuple[int, int, int]
# What has parts, before, after.
Change = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Tally:
    """Examples by what they hold before and after, where that is anything at all.

    `cells` by (cell, parts before, parts after), `classes` by (place among the names, counts before, counts after), in
    parts too.
    """

    cells: defaultdict[Change, int] = field(default_factory=lambda: defaultdict(int))
    classes: defaultdict[tuple[int, ClassCounts, ClassCounts], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, was: Parts, now: Parts, names: int, count: int) -> None:
        """Count examples that hold these parts of cells, each cell by itself."""
        for cell in was.keys() | now.keys():
            self.cells[cell, was.get(cell, 0), now.get(cell, 0)] += count
        first, second = class_counts(was, names), class_counts(now, names)
        for name in first.keys() | second.keys():
            self.classes[name, first.get(name, NOTHING), second.get(name, NOTHING)] += count


def class_counts(weights: Parts, names: int) -> dict[int, ClassCounts]:
    """Return (correct, expected, called), in parts, of each class that an example touches."""
    counts: dict[int, ClassCounts] = {}
    for cell, parts in weights.items():
        expected, actual = divmod(cell, names)
        right = parts if expected == actual else 0
        correct, due, called = counts.get(expected, NOTHING)
        counts[expected] = correct + right, due + parts, called + right
        if not right:
            correct, due, called = counts.get(actual, NOTHING)
            counts[actual] = correct, due, called + parts
    return counts


def tallied(weights: Weighed) -> Tally:
    """Return how many examples hold what.

    Nearly every example expects one and the same class in all trials of both runs: such are counted together, which
    costs a fraction of `Tally.add` for each kind of example.
    """
    tally, names = Tally(), len(weights.names)
    sides = _Side.of(weights.before, weights.part, names), _Side.of(weights.after, weights.part, names)
    ones, others = _split(weights.rows, sides[0].due, sides[1].due)
    for first, second, count in others:
        tally.add(weights.before[first], weights.after[second], names, count)
    for (due, was, now), count in _right(ones, *sides).items():
        if was or now:
            tally.cells[due * (names + 1), was, now] += count
        tally.classes[due, (was, weights.part, was), (now, weights.part, now)] += count
    for (cell, was, now), count in _wrong(ones, *sides):
        tally.cells[cell, was, now] += count
        tally.classes[cell % names, (0, 0, was), (0, 0, now)] += count
    return tally


@dataclass(frozen=True, slots=True)
class _Side:
    """The content of each kind of example in one run: `due` is the place of the one class that it expects, else -1.

    `right` are the parts of that class that are right, `wrong` the parts of every other cell.
    """

    due: Sequence[int]
    right: Sequence[int]
    wrong: Sequence[Parts]

    @classmethod
    def of(cls, weights: Sequence[Parts], part: int, names: int) -> Self:
        due, right, wrong = [], [], []
        for cells in weights:
            least, most = (min(cells) // names, max(cells) // names) if cells else (-1, -1)
            # What is rounded may be a little more or less than a whole example.
            one = least if least == most and sum(cells.values()) == part else -1
            met = one * (names + 1)
            rest = dict(cells)
            due.append(one)
            right.append(rest.pop(met, 0))
            wrong.append(rest)
        return cls(due, right, wrong)


def _split(rows: Sequence[Row], before: Sequence[int], after: Sequence[int]) -> tuple[list[Row], list[Row]]:
    """Return the rows whose examples expect one and the same class, and the others."""
    ones: list[Row] = []
    others: list[Row] = []
    for row in rows:
        due = before[row[0]]
        (ones if due == after[row[1]] and due >= 0 else others).append(row)
    return ones, others


def _right(rows: Sequence[Row], before: _Side, after: _Side) -> dict[Change, int]:
    """Return the examples by class that is expected, and parts of it that are right before and after."""
    counts: defaultdict[Change, int] = defaultdict(int)
    for first, second, count in rows:
        counts[before.due[first], before.right[first], after.right[second]] += count
    return counts


def _wrong(rows: Sequence[Row], before: _Side, after: _Side) -> Iterator[tuple[Change, int]]:
    """Yield how many examples have which parts of each wrong cell before and after.

    Only what both runs hold is looked at together: what one of them holds by itself is the rest of all that it holds.
    """
    both: defaultdict[Change, int] = defaultdict(int)
    often = [0] * len(before.wrong), [0] * len(after.wrong)
    for first, second, count in rows:
        often[0][first] += count
        often[1][second] += count
        was, now = before.wrong[first], after.wrong[second]
        if was and now and not was.keys().isdisjoint(now):
            for cell in was.keys() & now.keys():
                both[cell, was[cell], now[cell]] += count
    alone = [_held(side.wrong, many) for side, many in zip((before, after), often, strict=True)]
    for change, count in both.items():
        cell, was_parts, now_parts = change
        alone[0][cell, was_parts] -= count
        alone[1][cell, now_parts] -= count
        yield change, count
    yield from (((cell, parts, 0), count) for (cell, parts), count in alone[0].items() if count)
    yield from (((cell, 0, parts), count) for (cell, parts), count in alone[1].items() if count)


def _held(weights: Sequence[Parts], often: Sequence[int]) -> defaultdict[tuple[int, int], int]:
    """Return how many examples have which parts of each cell."""
    counts: defaultdict[tuple[int, int], int] = defaultdict(int)
    for cells, count in zip(weights, often, strict=True):
        for each in cells.items() if count else ():
            counts[each] += count
    return counts
