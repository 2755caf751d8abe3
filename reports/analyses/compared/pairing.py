"""Examples of two runs side by side, as counts of what is distinct."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import lcm
from typing import Generic, TypeVar

from toolevals.grading.metrics.comparison import Share
from toolevals.runs.packed import Cell, Packed

# The number of an example's one trial in a run, or those of its trials, smallest first: trials of an example are alike.
Trials = int | tuple[int, ...]
Facts = TypeVar("Facts")
# Trials are weighed in whole numbers of this part of an example, at most.
_FINEST = 720_720


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What an example's trials came to: (passed, scored) and errored trials of each verdict in their order."""

    shares: tuple[Share, ...]
    errored: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """How many of an example's trials stand in each cell of the matrix of first calls, and how many in any."""

    cells: Mapping[Cell, int]
    placed: int


@dataclass(frozen=True, slots=True)
class PairedFacts(Generic[Facts]):
    """Examples by what they came to before and after."""

    counts: Mapping[tuple[Trials, Trials], int]
    before: Callable[[Trials], Facts]
    after: Callable[[Trials], Facts]

    def read(self) -> list[tuple[Facts, Facts, int]]:
        """Return (before, after, how many examples) of everything that is distinct."""
        return [(self.before(first), self.after(second), count) for (first, second), count in self.counts.items()]


# Not slotted: what is counted is kept.
@dataclass(frozen=True)
class Paired:
    """Two runs, and which example of the one is which of the other: pairs of places, None where all are in order."""

    before: Packed
    after: Packed
    pairs: Sequence[tuple[int, int]] | None = None

    @property
    def examples(self) -> int:
        """How many examples both runs share."""
        return self.before.examples if self.pairs is None else len(self.pairs)

    @cached_property
    def verdicts(self) -> PairedFacts[Verdicts]:
        """The shared examples by their verdicts."""
        sides = self.outcomes()
        return PairedFacts(Counter(zip(*sides, strict=True)), _verdicts_in(self.before), _verdicts_in(self.after))

    @cached_property
    def places(self) -> PairedFacts[Places]:
        """The shared examples by their places in the matrix."""
        sides = self.placed()
        return PairedFacts(Counter(zip(*sides, strict=True)), _places_in(self.before), _places_in(self.after))

    def outcomes(self) -> tuple[Sequence[Trials], Sequence[Trials]]:
        """Return the numbers of the shared examples' verdicts, before and after."""
        return self._sides(self.before.outcomes, self.after.outcomes)

    def placed(self) -> tuple[Sequence[Trials], Sequence[Trials]]:
        """Return the numbers of the shared examples' cells, before and after."""
        return self._sides(self.before.places, self.after.places)

    def _sides(self, before: array[int], after: array[int]) -> tuple[Sequence[Trials], Sequence[Trials]]:
        first, second = _by_example(before, self.before.trials), _by_example(after, self.after.trials)
        if self.pairs is None:
            return first, second
        return [first[place] for place, _ in self.pairs], [second[place] for _, place in self.pairs]


@dataclass(frozen=True, slots=True)
class Weighed:
    """The examples that have a place in both matrices: what each cell holds of them before and after, in whole parts.

    An example is `part` parts, spread evenly over its trials that have a place. `rows` are (before, after, examples),
    where a side that occurs again is the same object.
    """

    rows: Sequence[tuple[Mapping[Cell, int], Mapping[Cell, int], int]]
    part: int
    left_out: int

    @property
    def examples(self) -> int:
        return sum(count for _, _, count in self.rows)

    def amount(self, parts: int) -> int | float:
        """Return a number of parts as examples: whole, unless they are not."""
        return parts / self.part if parts % self.part else parts // self.part


def weighed(places: Sequence[tuple[Places, Places, int]]) -> Weighed:
    """Return what the cells hold of the examples."""
    both = [each for each in places if each[0].placed and each[1].placed]
    part = min(lcm(*{side.placed for before, after, _ in both for side in (before, after)}), _FINEST)
    known: dict[int, Mapping[Cell, int]] = {}
    for before, after, _ in both:
        for side in (before, after):
            if id(side) not in known:
                known[id(side)] = {cell: round(part * trials / side.placed) for cell, trials in side.cells.items()}
    rows = [(known[id(before)], known[id(after)], count) for before, after, count in both]
    return Weighed(rows, part, sum(each[2] for each in places) - sum(each[2] for each in both))


def _by_example(numbers: array[int], trials: int) -> Sequence[Trials]:
    if trials == 1:
        return numbers
    one = iter(numbers)
    return [tuple(sorted(each)) for each in zip(*[one] * trials, strict=True)]


def _verdicts_in(packed: Packed) -> Callable[[Trials], Verdicts]:
    @cache
    def read(trials: Trials) -> Verdicts:
        letters = map(packed.letters_of, trials if isinstance(trials, tuple) else (trials,))
        columns = list(zip(*letters, strict=True))
        shares = tuple((column.count("p"), column.count("p") + column.count("f")) for column in columns)
        return Verdicts(shares, tuple(column.count("e") for column in columns))

    return read


def _places_in(packed: Packed) -> Callable[[Trials], Places]:
    @cache
    def read(trials: Trials) -> Places:
        if not isinstance(trials, tuple):
            return Places({packed.cells[trials - 1]: 1}, 1) if trials else Places({}, 0)
        cells = Counter(packed.cells[number - 1] for number in trials if number)
        return Places(cells, cells.total())

    return read
