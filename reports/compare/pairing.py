"""Pair the examples of two runs, as counts of what is distinct."""

from __future__ import annotations

import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from math import lcm
from typing import Final, Generic, Self, TypeVar

from toolevals.grading.metrics.comparison import ClassCounts, Share
from toolevals.runs.aggregates.packed_cases import Cell, Packed, Patterns

Facts = TypeVar("Facts")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The results of an example's trials: (passed, scored) and errored trials of each verdict in their order."""

    shares: tuple[Share, ...]
    errored: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """The number of an example's trials in each cell of the matrix of first calls, and in all cells."""

    cells: Mapping[Cell, int]
    placed: int


# Not slotted: what is counted is kept.
@dataclass(frozen=True)
class PairedFacts(Generic[Facts]):
    """Examples by what they came to.

    `numbers`, by example, are (place in `before`)·(length of `after`) + (place in `after`).
    """

    numbers: array[int]
    before: Sequence[Facts]
    after: Sequence[Facts]

    @cached_property
    def counts(self) -> Counter[int]:
        """The examples of each number."""
        return Counter(self.numbers)

    def places(self, number: int) -> tuple[int, int]:
        """Return the places in `before` and `after` that a number stands for."""
        return divmod(number, len(self.after))

    def read(self) -> list[tuple[Facts, Facts, int]]:
        """Return (before, after, how many examples) of everything that is distinct."""
        pairs = ((*self.places(number), count) for number, count in self.counts.items())
        return [(self.before[first], self.after[second], count) for first, second, count in pairs]

    def as_facts(self, before: Callable[[Facts], Other], after: Callable[[Facts], Other]) -> PairedFacts[Other]:
        """Return the same examples with what is distinct read again."""
        return PairedFacts(self.numbers, list(map(before, self.before)), list(map(after, self.after)))

    def holding(self, holds: Callable[[Facts, Facts], bool]) -> tuple[int, Iterator[int]]:
        """Return how many examples something is true of, and their places in order, found as they are asked for."""
        places = {number: self.places(number) for number in self.counts}
        wanted = {number for number, (one, other) in places.items() if holds(self.before[one], self.after[other])}
        found = (place for place, number in enumerate(self.numbers) if number in wanted)
        return sum(self.counts[number] for number in wanted), found


# Not slotted: what is counted is kept.
@dataclass(frozen=True)
class Paired:
    """Two runs, and which example of the one is which of the other: pairs of places, None where all are in order."""

    before: Packed
    after: Packed
    pairs: Sequence[tuple[int, int]] | None = None

    @property
    def examples(self) -> int:
        """Return how many examples both runs share."""
        return self.before.examples if self.pairs is None else len(self.pairs)

    @cached_property
    def verdicts(self) -> PairedFacts[Verdicts]:
        """The shared examples by their verdicts."""
        found = self._paired(self.before.outcome_patterns, self.after.outcome_patterns)
        return found.as_facts(partial(_verdicts_of, self.before), partial(_verdicts_of, self.after))

    @cached_property
    def places(self) -> PairedFacts[Places]:
        """The shared examples by their places in the matrix."""
        found = self._paired(self.before.place_patterns, self.after.place_patterns)
        return found.as_facts(partial(_places_of, self.before), partial(_places_of, self.after))

    def _paired(self, first: Patterns, second: Patterns) -> PairedFacts[tuple[int, ...]]:
        sides = first.numbers, second.numbers
        if self.pairs is not None:
            sides = (
                array(sides[0].typecode, [sides[0][place] for place, _ in self.pairs]),
                array(sides[1].typecode, [sides[1][place] for _, place in self.pairs]),
            )
        return PairedFacts(_in_one(*sides, len(second.distinct)), first.distinct, second.distinct)


def _in_one(first: array[int], second: array[int], times: int) -> array[int]:
    """Return first·times + second of each example; numbers of `second` are below `times`.

    Each array is taken as one large number, whose digits are the numbers: these are all added at once.
    """
    one, other = (int.from_bytes(array("Q", side).tobytes(), sys.byteorder) for side in (first, second))
    numbers = array("Q")
    numbers.frombytes((one * times + other).to_bytes(len(first) * numbers.itemsize, sys.byteorder))
    return numbers


def _verdicts_of(run: Packed, trials: tuple[int, ...]) -> Verdicts:
    columns = list(zip(*map(run.letters_of, trials), strict=True))
    shares = tuple((column.count("p"), column.count("p") + column.count("f")) for column in columns)
    return Verdicts(shares, tuple(column.count("e") for column in columns))


def _places_of(run: Packed, trials: tuple[int, ...]) -> Places:
    cells: dict[Cell, int] = {}
    for number in filter(None, trials):
        cell = run.cells[number - 1]
        cells[cell] = cells.get(cell, 0) + 1
    return Places(cells, sum(cells.values()))


_NOTHING: Final[ClassCounts] = (0, 0, 0)
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
    # The place of each cell in `numbers`.
    place: Mapping[Cell, int]

    @classmethod
    def of(cls, paired: Paired) -> Self:
        """Return the cells of two runs."""
        cells = sorted({*paired.before.cells, *paired.after.cells})
        names = sorted(set(chain.from_iterable(cells)))
        ranks = {name: rank for rank, name in enumerate(names)}
        expected, called = ([ranks[cell[side]] for cell in cells] for side in (0, 1))
        numbers = [row * len(names) + column for row, column in zip(expected, called, strict=True)]
        return cls(names, numbers, expected, called, {cell: place for place, cell in enumerate(cells)})


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

    def add(self, before: Held, after: Held, count: int) -> None:
        """Count examples that hold this before and after, each cell and each class by itself."""
        for cell in before.cells.keys() | after.cells.keys():
            was, now = before.cells.get(cell, 0), after.cells.get(cell, 0)
            self.before[cell] += was * count
            self.after[cell] += now * count
            if now > was:
                self.entered[cell] += count
            elif now < was:
                self.left[cell] += count
        for name in before.classes.keys() | after.classes.keys():
            self.classes[name, before.classes.get(name, _NOTHING), after.classes.get(name, _NOTHING)] += count


@dataclass(frozen=True, slots=True)
class Held:
    """The parts of every cell that an example holds, and (correct, expected, called) of each class that it touches."""

    cells: Mapping[int, int]
    classes: Mapping[int, ClassCounts]

    @classmethod
    def of(cls, side: Places, cells: Cells, part: int) -> Self:
        """Return those of an example; of one without a place nothing."""
        held = {cells.place[cell]: round(part * trials / side.placed) for cell, trials in side.cells.items()}
        return cls(held, _class_counts(held, cells))


def _class_counts(weights: Mapping[int, int], cells: Cells) -> dict[int, ClassCounts]:
    """Return (correct, expected, called), in parts, of each class that an example touches."""
    counts: dict[int, ClassCounts] = {}
    for cell, parts in weights.items():
        expected, actual = cells.expected[cell], cells.called[cell]
        right = parts if expected == actual else 0
        correct, due, called = counts.get(expected, _NOTHING)
        counts[expected] = correct + right, due + parts, called + right
        if not right:
            correct, due, called = counts.get(actual, _NOTHING)
            counts[actual] = correct, due, called + parts
    return counts


def tallied(paired: Paired) -> Tally:
    """Return how many examples hold what."""
    facts = paired.places
    both = [(before, after, count) for before, after, count in facts.read() if before.placed and after.placed]
    part = min(lcm(*{side.placed for before, after, _ in both for side in (before, after)}), _FINEST)
    examples = sum(count for _, _, count in both)
    tally = Tally(Cells.of(paired), part, examples=examples, left_out=paired.examples - examples)
    of_side = partial(Held.of, cells=tally.cells, part=part)
    for before, after, count in facts.as_facts(of_side, of_side).read():
        if before.cells and after.cells:
            tally.add(before, after, count)
    return tally
