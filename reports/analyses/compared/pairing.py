"""Pair the examples of two runs, as counts of what is distinct."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Generic, TypeVar

from toolevals.grading.metrics.comparison import Share
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
