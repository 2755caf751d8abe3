"""Work out how many examples have which parts of a cell, and which counts of a class, before and after."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import lcm
from operator import add, ne, or_
from typing import Final, Self

from reports.analyses.compared.pairing import Paired, PairedFacts
from toolevals.grading.metrics.paired_classes import ClassCounts
from toolevals.runs.counts.outcome_patterns import OutcomePatterns, Trials

NOTHING: Final[ClassCounts] = (0, 0, 0)
Parts = Mapping[int, int]
# (place before, place after, examples).
Row = tuple[int, int, int]
# Bits of a sign: as many as Python adds in one step.
_SIGNS: Final = 30
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

    Nearly every example expects one and the same class in all trials of both runs: such are counted together, which
    costs a fraction of `Tally.add` for each kind of example.
    """
    runs, placed = (paired.before, paired.after), paired.placed
    cells = Cells.of(runs)
    sides = [_Side.of(run, cells, number) for number, run in enumerate(runs)]
    alike = _Alike(sides[0], sides[1])
    others = _with_places(alike.taken(placed), *sides)
    trials = {side.placed(kind) for kinds in alike.kinds for side, kind in zip(sides, kinds, strict=True)}
    trials |= {side.placed(side.kinds[row[number]]) for row in others for number, side in enumerate(sides)}
    part = min(lcm(*trials), _FINEST)
    examples = sum(alike.kinds.values()) + sum(count for _, _, count in others)
    tally = Tally(cells, part, examples=examples, left_out=len(placed.numbers) - examples)
    if any(part % each for each in trials):
        # What is rounded may be a little more or less than a whole example.
        others = _with_places([(*placed.places(number), count) for number, count in placed.counts.items()], *sides)
    else:
        alike.add_to(tally)
    for first, second, count in others:
        tally.add(sides[0].parts(first, part), sides[1].parts(second, part), count)
    return tally


def _with_places(rows: Sequence[Row], before: _Side, after: _Side) -> list[Row]:
    """Return the rows whose examples have a place in both matrices."""
    first, second = before.kinds, after.kinds
    return [row for row in rows if before.placed(first[row[0]]) and after.placed(second[row[1]])]


@dataclass(frozen=True, slots=True)
class _Side:
    """The patterns of one run: numbers of trials, 0 without a place, which `cells` and `wrong` turn into cells or -1.

    `due` is the class that a pattern expects in all its trials, or a negative number. Its kind is (`due`·size + trials
    that are right)·size + trials that have a place; in its sign each class that is called wrongly sets a bit, which
    some classes share.
    """

    patterns: Sequence[tuple[int, ...]]
    cells: Sequence[int]
    wrong: Sequence[int]
    size: int
    due: Sequence[int]
    kinds: Sequence[int]
    signs: Sequence[int]

    @classmethod
    def of(cls, run: OutcomePatterns, cells: Cells, number: int) -> Self:
        """Return the patterns of the run of that number, 0 or 1. Two that have no one class are not due the same."""
        size, places = run.trials + 1, cells.of_runs[number]
        expected, called = (list(map(names.__getitem__, places)) for names in (cells.expected, cells.called))
        mistaken = list(map(ne, expected, called))
        weights = [0, *(1 if wrong else size + 1 for wrong in mistaken)]
        bits = [0, *(1 << name % _SIGNS if wrong else 0 for name, wrong in zip(called, mistaken, strict=True))]
        patterns = [each if isinstance(each, tuple) else (each,) for each in run.places.distinct]
        # A column for each trial: what is asked of all patterns at once costs little.
        columns = list(zip(*patterns, strict=True))
        due = _due(columns, [-1 - number, *expected])
        kinds, signs = [each * size * size for each in due], [0] * len(patterns)
        for column in columns:
            kinds = list(map(add, kinds, map(weights.__getitem__, column)))
            signs = list(map(or_, signs, map(bits.__getitem__, column)))
        wrong = [-1, *(place if wrong else -1 for place, wrong in zip(places, mistaken, strict=True))]
        return cls(patterns, [-1, *places], wrong, size, due, kinds, signs)

    def right(self, kind: int) -> int:
        """Return how many trials of a pattern of that kind are right."""
        return kind // self.size % self.size

    def placed(self, kind: int) -> int:
        """Return how many trials of a pattern of that kind have a place."""
        return kind % self.size

    def parts(self, pattern: int, part: int) -> Parts:
        """Return the parts of every cell."""
        placed, trials = self.placed(self.kinds[pattern]), Counter(map(self.cells.__getitem__, self.patterns[pattern]))
        return {cell: round(part * many / placed) for cell, many in trials.items() if cell >= 0}


def _due(columns: Sequence[Sequence[int]], dues: Sequence[int]) -> Sequence[int]:
    """Return the class that each pattern expects, or the first of `dues` where its trials expect none or several."""
    by_trial = [list(map(dues.__getitem__, column)) for column in columns]
    if all(each == by_trial[-1] for each in by_trial):
        return by_trial[-1] if by_trial else []
    none = dues[0]
    # Trials without a place come first.
    return [each[-1] if {none, each[-1]}.issuperset(each) else none for each in zip(*by_trial, strict=True)]


class _Alike:
    """The examples that expect one and the same class in all trials of both runs.

    `kinds` counts them by their kinds before and after, `often` by their patterns in either run, and `meeting` are
    those that may have called a class wrongly both before and after.
    """

    def __init__(self, before: _Side, after: _Side) -> None:
        self._sides = before, after
        self.kinds: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._often = [0] * len(before.kinds), [0] * len(after.kinds)
        self._meeting: list[Row] = []

    def taken(self, facts: PairedFacts[Trials]) -> list[Row]:
        """Take in examples, and return those that are others."""
        (due, kind, sign), (due_after, kind_after, sign_after) = ((s.due, s.kinds, s.signs) for s in self._sides)
        kinds, (often, often_after), meeting, times = self.kinds, self._often, self._meeting, len(facts.after)
        others: list[Row] = []
        for number, count in facts.counts.items():
            first, second = number // times, number % times
            if due[first] != due_after[second]:
                others.append((first, second, count))
                continue
            kinds[kind[first], kind_after[second]] += count
            often[first] += count
            often_after[second] += count
            if sign[first] & sign_after[second]:
                meeting.append((first, second, count))
        return others

    def add_to(self, tally: Tally) -> None:
        """Count what is right, what a run holds by itself, and what of it both runs hold."""
        self._add_right(tally)
        (before, after), (often, often_after) = self._sides, self._often
        alone = _wrong(before, often, tally, tally.before, tally.left)
        alone_after = _wrong(after, often_after, tally, tally.after, tally.entered)
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

    def _add_right(self, tally: Tally) -> None:
        part, cells, (before, after) = tally.part, tally.cells, self._sides
        classes = enumerate(zip(cells.expected, cells.called, strict=True))
        places = {due: place for place, (due, called) in classes if due == called}
        for (kind, kind_after), count in self.kinds.items():
            due = kind // before.size**2
            was = before.right(kind) * part // before.placed(kind)
            now = after.right(kind_after) * part // after.placed(kind_after)
            if was or now:
                tally.add_cell(places[due], was, now, count)
            tally.classes[due, (was, part, was), (now, part, now)] += count

    def _met(self, part: int) -> Mapping[tuple[int, int, int], int]:
        """Return the examples that hold a wrong cell before and after, by the cell and the parts of both."""
        before, after = self._sides
        met: defaultdict[tuple[int, int, int], int] = defaultdict(int)
        for first, second, count in self._meeting:
            was = tuple(map(before.wrong.__getitem__, before.patterns[first]))
            now = tuple(map(after.wrong.__getitem__, after.patterns[second]))
            each, each_after = part // before.placed(before.kinds[first]), part // after.placed(after.kinds[second])
            for cell in {*was}.intersection(now):
                if cell >= 0:
                    met[cell, was.count(cell) * each, now.count(cell) * each_after] += count
        return met


def _wrong(
    side: _Side, often: Sequence[int], tally: Tally, parts_of: list[int], moved: list[int]
) -> defaultdict[tuple[int, int], int]:
    """Add what a run holds of wrong cells, as if the other held none; return the examples by class called and parts."""
    counts: defaultdict[tuple[int, int], int] = defaultdict(int)
    called, wrong, part, size = tally.cells.called, side.wrong, tally.part, side.size
    for pattern, kind, sign, count in zip(side.patterns, side.kinds, side.signs, often, strict=True):
        if sign and count:
            each = part // (kind % size)
            for one in set(pattern):
                cell = wrong[one]
                if cell >= 0:
                    parts = pattern.count(one) * each
                    parts_of[cell] += parts * count
                    moved[cell] += count
                    counts[called[cell], parts] += count
    return counts
