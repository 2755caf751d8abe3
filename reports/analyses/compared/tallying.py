"""Work out how many examples have which parts of a cell, and which counts of a class, before and after."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import lcm
from operator import itemgetter
from typing import Final, Self

from reports.analyses.compared.pairing import Paired, in_one
from toolevals.grading.metrics.comparison import ClassCounts
from toolevals.runs.counts.outcome_patterns import OutcomePatterns
from toolevals.runs.counts.place_kinds import PlaceKinds, in_tuple

NOTHING: Final[ClassCounts] = (0, 0, 0)
Parts = Mapping[int, int]
# (kind before, kind after, examples).
Row = tuple[int, int, int]
# Trials are weighed in whole numbers of this part of an example, at most.
_FINEST: Final = 720_720


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of two matrices: a place in `numbers` stands for each, and is told apart much faster than its names.

    `names` are sorted. A number is (place of what is expected among the names)·(number of names) + (place of what is
    called); `numbers` are sorted too, so that cells are in the order of their names. `places` are those in `numbers`.
    """

    names: Sequence[str]
    numbers: Sequence[int]
    places: Mapping[int, int]
    # What is expected and called in each, by place among the names.
    expected: Sequence[int]
    called: Sequence[int]
    # By run and in the order of its cells.
    of_runs: Sequence[Sequence[int]]

    @classmethod
    def of(cls, runs: Iterable[PlaceKinds]) -> Self:
        """Return the cells of runs."""
        held = list(runs)
        names = sorted(set(chain.from_iterable(run.names for run in held)))
        many = len(names)
        of_runs = [_cells_among(run, names) for run in held]
        numbers = sorted(set(chain.from_iterable(of_runs)))
        places = {number: place for place, number in enumerate(numbers)}
        return cls(
            names,
            numbers,
            places,
            [number // many for number in numbers],
            [number % many for number in numbers],
            [list(map(places.__getitem__, each)) for each in of_runs],
        )


def _cells_among(run: PlaceKinds, names: Sequence[str]) -> Sequence[int]:
    """Return the cells of a run as numbers among other names, which hold its own."""
    if list(run.names) == names:
        return run.cells
    ranks, many = {name: rank for rank, name in enumerate(names)}, len(run.names)
    own = [ranks[name] for name in run.names]
    return [own[cell // many] * len(names) + own[cell % many] for cell in run.cells]


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
    cells = Cells.of((paired.before.kinds, paired.after.kinds))
    before, after = _Side.of(paired, cells, 0), _Side.of(paired, cells, 1)
    numbers = in_one(before.kinds.numbers, after.kinds.numbers, len(before.due), len(after.due))
    counts = Counter(numbers)
    kinds = {number: (*divmod(number, len(after.due)), count) for number, count in counts.items()}
    in_both = {number for number, (one, other, _) in kinds.items() if before.placed[one] and after.placed[other]}
    trials = {before.placed[kinds[each][0]] for each in in_both} | {after.placed[kinds[each][1]] for each in in_both}
    part, examples = min(lcm(*trials), _FINEST), sum(counts[number] for number in in_both)
    tally = Tally(cells, part, examples=examples, left_out=len(numbers) - examples)
    alike = {number for number in in_both if before.due[kinds[number][0]] == after.due[kinds[number][1]]}
    # What is rounded may be a little more or less than a whole example.
    if any(part % each for each in trials):
        alike = set()
    if alike:
        others = kinds.keys() - alike
        left = {place for place, number in enumerate(numbers) if number in others} if others else set()
        _Alike(before, after, left).add_to(tally, [kinds[number] for number in alike])
    if one_by_one := in_both - alike:
        _add_each(tally, paired, [place for place, number in enumerate(numbers) if number in one_by_one])
    return tally


def _add_each(tally: Tally, paired: Paired, places: Iterable[int]) -> None:
    """Count examples, by place among those that are compared, by all that their trials hold."""
    pairs = paired.pairs
    held = [(place, place) if pairs is None else pairs[place] for place in places]
    before, after = paired.before.alike, paired.after.alike
    first, second = tally.cells.of_runs
    met = Counter((before.places.numbers[one], after.places.numbers[other]) for one, other in held)
    for (one, other), count in met.items():
        was, now = _parts(before, one, first, tally.part), _parts(after, other, second, tally.part)
        tally.add(was, now, count)


def _parts(run: OutcomePatterns, pattern: int, cells: Sequence[int], part: int) -> Parts:
    """Return the parts of every cell that a pattern of trials holds."""
    trials = Counter(in_tuple(run.places.distinct[pattern]))
    placed = trials.total() - trials.pop(0, 0)
    return {cells[number - 1]: round(part * many / placed) for number, many in trials.items()}


@dataclass(frozen=True, slots=True)
class _Side:
    """The examples of one run that are compared; classes and cells are places in Cells.

    `due`, `right` and `placed` are by kind; `due` is a class, or a negative number that the other run does not have.
    `cells` and `classes` are by the places that `kinds` has for them.
    """

    kinds: PlaceKinds
    due: Sequence[int]
    right: Sequence[int]
    placed: Sequence[int]
    cells: Sequence[int]
    classes: Sequence[int]
    names: int

    @classmethod
    def of(cls, paired: Paired, cells: Cells, number: int) -> Self:
        """Return the run of that number, 0 or 1."""
        kinds = (paired.before, paired.after)[number].kinds
        if paired.pairs is not None:
            kinds = kinds.of_examples(list(map(itemgetter(number), paired.pairs)))
        ranks = {name: rank for rank, name in enumerate(cells.names)}
        classes = [ranks[name] for name in kinds.names]
        due = [classes[place - 1] if place else -1 - number for place in kinds.due]
        return cls(kinds, due, kinds.right, kinds.placed, cells.of_runs[number], classes, len(cells.names))

    def keys(self) -> Iterator[int]:
        """Yield the keys of wrong calls as if the run had the classes of both."""
        return self.kinds.keys() if self._has_all else map(self._key, self.kinds.keys())

    def often(self) -> Mapping[int, int]:
        """Return the trials of a key, where they are several."""
        often = self.kinds.often
        return often if self._has_all else {self._key(key): trials for key, trials in often.items()}

    @property
    def _has_all(self) -> bool:
        return len(self.classes) == self.names

    def _key(self, key: int) -> int:
        example, called = divmod(key, len(self.classes))
        return example * self.names + self.classes[called]


class _Alike:
    """The examples that expect one and the same class in all trials of both runs: all but some `others`."""

    def __init__(self, before: _Side, after: _Side, others: Collection[int]) -> None:
        self._sides, self._others = (before, after), others

    def add_to(self, tally: Tally, kinds: Iterable[Row]) -> None:
        """Count what is right, by kinds before and after; what a run holds by itself; and what of it both runs hold."""
        self._add_right(tally, kinds)
        before, after = self._sides
        alone = self._wrong(before, tally, tally.before, tally.left)
        alone_after = self._wrong(after, tally, tally.after, tally.entered)
        for (cell, was, now), count in self._met(tally).items():
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

    def _add_right(self, tally: Tally, kinds: Iterable[Row]) -> None:
        part, (before, after), places = tally.part, self._sides, tally.cells.places
        for first, second, count in kinds:
            due = before.due[first]
            was = before.right[first] * part // before.placed[first]
            now = after.right[second] * part // after.placed[second]
            if was or now:
                tally.add_cell(places[due * before.names + due], was, now, count)
            tally.classes[due, (was, part, was), (now, part, now)] += count

    def _wrong(
        self, side: _Side, tally: Tally, parts_of: list[int], moved: list[int]
    ) -> defaultdict[tuple[int, int], int]:
        """Add what a run holds of wrong cells, as if the other held none; return examples by class called and parts."""
        counts: defaultdict[tuple[int, int], int] = defaultdict(int)
        kinds, part, found = side.kinds, tally.part, [(side.kinds.sums, 1)]
        if self._others:
            found.append((kinds.sums_of(row for row in kinds.wrong_calls() if row[0] in self._others), -1))
        for sums, sign in found:
            for place, placed, trials, count in sums.cells:
                cell = side.cells[place]
                parts_of[cell] += sign * trials * (part // placed)
                moved[cell] += sign * count
            for called, trials, placed, count in sums.classes:
                counts[side.classes[called], trials * (part // placed)] += sign * count
        return counts

    def _met(self, tally: Tally) -> Mapping[tuple[int, int, int], int]:
        """Return the examples that hold a wrong cell before and after, by the cell and the parts of both."""
        before, after = self._sides
        was, now, many, cells = before.often(), after.often(), before.names, tally.cells.places
        each, each_after = ([tally.part // placed if placed else 0 for placed in side.placed] for side in self._sides)
        kinds, kinds_after = before.kinds.numbers, after.kinds.numbers
        # By kind, the number of the class's first cell.
        firsts = [due * many for due in before.due]
        keys = set(before.keys()).intersection(after.keys())
        if self._others:
            keys = {key for key in keys if key // many not in self._others}
        met: defaultdict[tuple[int, int, int], int] = defaultdict(int)
        for key in keys:
            example = key // many
            kind = kinds[example]
            cell = cells[firsts[kind] + key % many]
            met[cell, was.get(key, 1) * each[kind], now.get(key, 1) * each_after[kinds_after[example]]] += 1
        return met
