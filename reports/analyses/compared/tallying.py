"""Work out how many examples have which parts of a cell, and which counts of a class, before and after."""

from __future__ import annotations

import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from math import lcm
from operator import itemgetter
from typing import Final, Self

from reports.analyses.compared.pairing import Paired, in_one
from toolevals.grading.metrics.paired_classes import ClassCounts
from toolevals.runs.counts.outcome_patterns import OutcomePatterns
from toolevals.runs.counts.place_kinds import PlaceKinds, WrongRow, in_tuple, wrong_of, wrong_rows

NOTHING: Final[ClassCounts] = (0, 0, 0)
Parts = Mapping[int, int]
# (place before, place after, examples).
Row = tuple[int, int, int]
# Trials are weighed in whole numbers of this part of an example, at most.
_FINEST: Final = 720_720


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of two matrices: a place in `numbers` stands for each, and is told apart much faster than its names.

    `names` are sorted. A number is (place of what is expected among the names)·(number of names) + (place of what is
    called); `numbers` are sorted too, so that cells are in the order of their names.
    """

    names: Sequence[str]
    numbers: Sequence[int]
    # What is expected and called in each, by place among the names.
    expected: Sequence[int]
    called: Sequence[int]
    # By run and in the order of its cells.
    of_runs: Sequence[Sequence[int]]

    @classmethod
    def of(cls, runs: Iterable[OutcomePatterns]) -> Self:
        """Return the cells of runs."""
        held = [run.cells for run in runs]
        names = sorted(set(chain.from_iterable(chain.from_iterable(held))))
        ranks, many = {name: rank for rank, name in enumerate(names)}, len(names)
        of_runs = [[ranks[expected] * many + ranks[called] for expected, called in cells] for cells in held]
        numbers = sorted(set(chain.from_iterable(of_runs)))
        places = {number: place for place, number in enumerate(numbers)}
        return cls(
            names,
            numbers,
            [number // many for number in numbers],
            [number % many for number in numbers],
            [list(map(places.__getitem__, each)) for each in of_runs],
        )


class Tally:
    """The examples that have a place in both matrices, by what they hold before and after.

    An example is `part` parts, spread evenly over its trials that have a place. By cell: parts `before` and `after`,
    and how many examples hold more of it after (`entered`) and less (`left`). `classes` counts examples by (place among
    the names, counts before, counts after), in parts, where these are anything at all.
    """

    def __init__(self, cells: Cells, part: int, *, examples: int = 0, left_out: int = 0) -> None:
        self.cells, self.part, self.examples, self.left_out = cells, part, examples, left_out
        self.before, self.after, self.entered, self.left = ([0] * len(cells.numbers) for _ in range(4))
        self.classes: defaultdict[tuple[int, ClassCounts, ClassCounts], int] = defaultdict(int)

    def amount(self, parts: int) -> int | float:
        """Return a number of parts as examples: whole, unless they are not."""
        return parts / self.part if parts % self.part else parts // self.part

    def add(self, was: Parts, now: Parts, count: int) -> None:
        """Count examples that hold these parts of cells, each cell by itself."""
        for cell in was.keys() | now.keys():
            self.add_cell(cell, was.get(cell, 0), now.get(cell, 0), count)
        first, second = (class_counts(parts, self.cells) for parts in (was, now))
        for name in first.keys() | second.keys():
            self.classes[name, first.get(name, NOTHING), second.get(name, NOTHING)] += count

    def add_cell(self, cell: int, was: int, now: int, count: int) -> None:
        """Count examples that hold these parts of a cell."""
        self.before[cell] += was * count
        self.after[cell] += now * count
        if now > was:
            self.entered[cell] += count
        elif now < was:
            self.left[cell] += count


def class_counts(weights: Parts, cells: Cells) -> dict[int, ClassCounts]:
    """Return (correct, expected, called), in parts, of each class that an example touches."""
    counts: dict[int, ClassCounts] = {}
    for cell, parts in weights.items():
        expected, actual = cells.expected[cell], cells.called[cell]
        right = parts if expected == actual else 0
        correct, due, called = counts.get(expected, NOTHING)
        counts[expected] = correct + right, due + parts, called + right
        if not right:
            correct, due, called = counts.get(actual, NOTHING)
            counts[actual] = correct, due, called + parts
    return counts


def tallied(paired: Paired) -> Tally:
    """Return how many examples hold what.

    Nearly every example expects one and the same class in all trials of both runs: such are counted by their kinds, and
    by what each run holds of wrong cells, which is known of a whole run.
    """
    cells = Cells.of((paired.before, paired.after))
    before, after = _Side.of(paired, cells, 0), _Side.of(paired, cells, 1)
    numbers = in_one(before.kinds, after.kinds, len(before.placed), len(after.placed))
    kinds = {(*divmod(number, len(after.placed)), number): count for number, count in Counter(numbers).items()}
    in_both = {kind: count for kind, count in kinds.items() if before.placed[kind[0]] and after.placed[kind[1]]}
    trials = {before.placed[first] for first, _, _ in in_both} | {after.placed[second] for _, second, _ in in_both}
    part, examples = min(lcm(*trials), _FINEST), sum(in_both.values())
    tally = Tally(cells, part, examples=examples, left_out=len(numbers) - examples)
    alike = {kind: count for kind, count in in_both.items() if before.due[kind[0]] == after.due[kind[1]]}
    others: Collection[int] = range(len(numbers))
    # What is rounded may be a little more or less than a whole example.
    if not any(part % each for each in trials):
        different = {number for _, _, number in kinds.keys() - alike.keys()}
        others = {place for place, number in enumerate(numbers) if number in different} if different else ()
        _Alike(before, after, others).add_to(tally, alike)
    for (first, second), count in Counter((before.patterns[place], after.patterns[place]) for place in others).items():
        was, now = before.parts(first, part), after.parts(second, part)
        if was and now:
            tally.add(was, now, count)
    return tally


@dataclass(frozen=True, slots=True)
class _Side:
    """The examples of one run that are compared.

    By example, `patterns` are places in `run.places.distinct`, and `kinds` places in `due`, `right` and `placed`; see
    PlaceKinds. `due` is a class, or a negative number that the other run does not have. `cells` and `is_wrong` are by
    the number of a cell in the run, 0 no cell. `wrong` are the rows of PlaceKinds.
    """

    run: OutcomePatterns
    patterns: array[int]
    kinds: array[int]
    signs: array[int]
    due: Sequence[int]
    right: Sequence[int]
    placed: Sequence[int]
    wrong: Mapping[WrongRow, int]
    cells: Sequence[int]
    is_wrong: list[bool]

    @classmethod
    def of(cls, paired: Paired, cells: Cells, number: int) -> Self:
        """Return the run of that number, 0 or 1."""
        run = (paired.before, paired.after)[number]
        found, patterns = PlaceKinds.of(run), run.places.numbers
        kinds, signs, wrong = found.numbers, found.signs, found.wrong
        if paired.pairs is not None:
            places = list(map(itemgetter(number), paired.pairs))
            patterns, kinds, signs = (
                array("I", map(column.__getitem__, places)) for column in (patterns, kinds, signs)
            )
            wrong = wrong_rows(run, patterns)
        own = [-1, *cells.of_runs[number]]
        due = [cells.expected[own[cell]] if cell else -1 - number for cell in found.due]
        is_wrong = [False, *(expected != called for expected, called in run.cells)]
        return cls(run, patterns, kinds, signs, due, found.right, found.placed, wrong, own, is_wrong)

    def parts(self, pattern: int, part: int) -> Parts:
        """Return the parts of every cell."""
        trials = Counter(in_tuple(self.run.places.distinct[pattern]))
        placed = trials.total() - trials.pop(0, 0)
        return {self.cells[number]: round(part * many / placed) for number, many in trials.items()}

    def wrong_cells(self, other: int) -> list[int]:
        """Return the cell of each number of a cell that is not right, and `other` for the rest."""
        return [cell if wrong else other for cell, wrong in zip(self.cells, self.is_wrong, strict=True)]

    def wrong_of(self, place: int) -> Iterator[WrongRow]:
        """Yield the rows of one example."""
        return wrong_of(self.run.places.distinct[self.patterns[place]], self.is_wrong)


class _Alike:
    """The examples that expect one and the same class in all trials of both runs: all but some `others`."""

    def __init__(self, before: _Side, after: _Side, others: Collection[int]) -> None:
        self._sides, self._others = (before, after), others

    def add_to(self, tally: Tally, kinds: Mapping[Row, int]) -> None:
        """Count what is right, by kinds before and after; what a run holds by itself; and what of it both runs hold."""
        self._add_right(tally, kinds)
        before, after = self._sides
        alone = self._wrong(before, tally, tally.before, tally.left)
        alone_after = self._wrong(after, tally, tally.after, tally.entered)
        for (cell, was, now), count in self._met(tally.part).items():
            if now >= was:
                tally.left[cell] -= count
            if now <= was:
                tally.entered[cell] -= count
            name = tally.cells.called[cell]
            alone[name, was] -= count
            alone_after[name, now] -= count
            tally.classes[name, (0, 0, was), (0, 0, now)] += count
        for (name, was), count in alone.items():
            if count:
                tally.classes[name, (0, 0, was), NOTHING] += count
        for (name, now), count in alone_after.items():
            if count:
                tally.classes[name, NOTHING, (0, 0, now)] += count

    def _add_right(self, tally: Tally, kinds: Mapping[Row, int]) -> None:
        part, cells, (before, after) = tally.part, tally.cells, self._sides
        classes = enumerate(zip(cells.expected, cells.called, strict=True))
        places = {due: place for place, (due, called) in classes if due == called}
        for (first, second, _), count in kinds.items():
            due = before.due[first]
            was = before.right[first] * part // before.placed[first]
            now = after.right[second] * part // after.placed[second]
            if was or now:
                tally.add_cell(places[due], was, now, count)
            tally.classes[due, (was, part, was), (now, part, now)] += count

    def _wrong(
        self, side: _Side, tally: Tally, parts_of: list[int], moved: list[int]
    ) -> defaultdict[tuple[int, int], int]:
        """Add what a run holds of wrong cells, as if the other held none; return examples by class called and parts."""
        counts: defaultdict[tuple[int, int], int] = defaultdict(int)
        called, part = tally.cells.called, tally.part
        others = ((row, -1) for place in self._others for row in side.wrong_of(place))
        for (number, many, placed), count in chain(side.wrong.items(), others):
            cell, parts = side.cells[number], many * (part // placed)
            parts_of[cell] += parts * count
            moved[cell] += count
            counts[called[cell], parts] += count
        return counts

    def _met(self, part: int) -> Mapping[tuple[int, int, int], int]:
        """Return the examples that hold a wrong cell before and after, by the cell and the parts of both."""
        before, after = self._sides
        met: defaultdict[tuple[int, int, int], int] = defaultdict(int)
        # What is right is no cell, and never the same.
        wrong, wrong_after = before.wrong_cells(-1), after.wrong_cells(-2)
        numbers, numbers_after = ({cell: number for number, cell in enumerate(side.cells)} for side in self._sides)
        trials, trials_after = (list(map(in_tuple, side.run.places.distinct)) for side in self._sides)
        places = list(compress(range(len(before.signs)), _in_both(before.signs, after.signs)))
        if self._others:
            places = [place for place in places if place not in self._others]
        first, second = (list(map(side.patterns.__getitem__, places)) for side in self._sides)
        held = {pattern: frozenset(map(wrong.__getitem__, trials[pattern])) for pattern in set(first)}
        held_after = {
            pattern: frozenset(map(wrong_after.__getitem__, trials_after[pattern])) for pattern in set(second)
        }
        for one, other in zip(first, second, strict=True):
            if cells := held[one] & held_after[other]:
                was, now = trials[one], trials_after[other]
                each, each_after = part // (len(was) - was.count(0)), part // (len(now) - now.count(0))
                for cell in cells:
                    often, often_after = was.count(numbers[cell]), now.count(numbers_after[cell])
                    met[cell, often * each, often_after * each_after] += 1
        return met


def _in_both(first: array[int], second: array[int]) -> array[int]:
    """Return the bits that both hold, of all examples at once: each array is one large number."""
    one, other = (int.from_bytes(side.tobytes(), sys.byteorder) for side in (first, second))
    bits = array("I")
    bits.frombytes((one & other).to_bytes(len(first) * first.itemsize, sys.byteorder))
    return bits
