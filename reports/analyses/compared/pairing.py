"""Examples of two runs side by side, as counts of what is distinct."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
class Patterns:
    """What the trials of each example came to: `numbers` by example are places in `distinct`."""

    numbers: Sequence[int]
    distinct: Sequence[Trials]


@dataclass(frozen=True, slots=True)
class PairedFacts(Generic[Facts]):
    """Examples by what they came to: `sides` by example are places in `before` and `after`, and `counts` of both."""

    sides: tuple[Sequence[int], Sequence[int]]
    counts: Counter[tuple[int, int]]
    before: Sequence[Facts]
    after: Sequence[Facts]

    def read(self) -> list[tuple[Facts, Facts, int]]:
        """Return (before, after, how many examples) of everything that is distinct."""
        return [(self.before[first], self.after[second], count) for (first, second), count in self.counts.items()]

    def holding(self, holds: Callable[[Facts, Facts], bool]) -> tuple[int, Iterator[int]]:
        """Return how many examples something is true of, and their places in order, found as they are asked for."""
        wanted = {pair for pair in self.counts if holds(self.before[pair[0]], self.after[pair[1]])}
        both = enumerate(zip(*self.sides, strict=True))
        return sum(self.counts[pair] for pair in wanted), (place for place, pair in both if pair in wanted)


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
        return self._paired(lambda packed: (packed.outcomes, len(packed.verdicts)), _verdicts_of)

    @cached_property
    def places(self) -> PairedFacts[Places]:
        """The shared examples by their places in the matrix."""
        return self._paired(lambda packed: (packed.places, len(packed.cells)), _places_of)

    def _paired(
        self, of: Callable[[Packed], tuple[array[int], int]], read: Callable[[Packed, Trials], Facts]
    ) -> PairedFacts[Facts]:
        first, second = (_patterns(*of(packed), packed.trials) for packed in (self.before, self.after))
        sides = first.numbers, second.numbers
        if self.pairs is not None:
            sides = [sides[0][place] for place, _ in self.pairs], [sides[1][place] for _, place in self.pairs]
        return PairedFacts(
            sides,
            Counter(zip(*sides, strict=True)),
            [read(self.before, trials) for trials in first.distinct],
            [read(self.after, trials) for trials in second.distinct],
        )


@dataclass(frozen=True, slots=True)
class Weighed:
    """The examples that have a place in both matrices: what each cell holds of them before and after, in whole parts.

    An example is `part` parts, spread evenly over its trials that have a place. `rows` are (place in `before`, place in
    `after`, examples), each pair of places once.
    """

    before: Sequence[Mapping[Cell, int]]
    after: Sequence[Mapping[Cell, int]]
    rows: Sequence[tuple[int, int, int]]
    part: int
    left_out: int

    @property
    def examples(self) -> int:
        return sum(count for _, _, count in self.rows)

    def amount(self, parts: int) -> int | float:
        """Return a number of parts as examples: whole, unless they are not."""
        return parts / self.part if parts % self.part else parts // self.part


def weighed(places: PairedFacts[Places]) -> Weighed:
    """Return what the cells hold of the examples."""
    before, after = places.before, places.after
    rows = [(*pair, count) for pair, count in places.counts.items() if before[pair[0]].placed and after[pair[1]].placed]
    placed = {before[first].placed for first, _, _ in rows} | {after[second].placed for _, second, _ in rows}
    part = min(lcm(*placed), _FINEST)
    return Weighed(
        before=[_in_parts(side, part) for side in before],
        after=[_in_parts(side, part) for side in after],
        rows=rows,
        part=part,
        left_out=places.counts.total() - sum(count for _, _, count in rows),
    )


def _in_parts(side: Places, part: int) -> Mapping[Cell, int]:
    if part % (side.placed or 1) == 0:
        each = part // (side.placed or 1)
        return side.cells if each == 1 else {cell: trials * each for cell, trials in side.cells.items()}
    return {cell: round(part * trials / side.placed) for cell, trials in side.cells.items()}


def _patterns(numbers: array[int], most: int, trials: int) -> Patterns:
    if trials == 1:
        return Patterns(numbers, range(most + 1))
    known: dict[Trials, int] = {}
    # Many examples say the same in the same order: that is looked at once.
    said: dict[Trials, int] = {}
    by_example = []
    one = iter(numbers)
    for each in zip(*[one] * trials, strict=True):
        number = said.get(each)
        if number is None:
            number = said[each] = known.setdefault(tuple(sorted(each)), len(known))
        by_example.append(number)
    return Patterns(by_example, list(known))


def _verdicts_of(packed: Packed, trials: Trials) -> Verdicts:
    letters = map(packed.letters_of, trials if isinstance(trials, tuple) else (trials,))
    columns = list(zip(*letters, strict=True))
    shares = tuple((column.count("p"), column.count("p") + column.count("f")) for column in columns)
    return Verdicts(shares, tuple(column.count("e") for column in columns))


def _places_of(packed: Packed, trials: Trials) -> Places:
    if not isinstance(trials, tuple):
        return Places({packed.cells[trials - 1]: 1}, 1) if trials else Places({}, 0)
    cells: dict[Cell, int] = {}
    placed = 0
    for number in trials:
        if number:
            cell = packed.cells[number - 1]
            cells[cell] = cells.get(cell, 0) + 1
            placed += 1
    return Places(cells, placed)
