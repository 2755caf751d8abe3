"""Pair the examples of two runs, as counts of what is distinct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import lcm
from typing import Generic, Self, TypeVar

from toolevals.grading.metrics.comparison import Share
from toolevals.runs.counts.outcome_patterns import OutcomePatterns, Patterns, Trials
from toolevals.runs.counts.packed_cases import Cell

Facts = TypeVar("Facts")
Other = TypeVar("Other")
# Trials are weighed in whole numbers of this part of an example, at most.
_FINEST = 720_720


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

    def as_facts(self, before: Callable[[Facts], Other], after: Callable[[Facts], Other]) -> PairedFacts[Other]:
        """Return the same examples with what is distinct read again."""
        return PairedFacts(self.sides, self.counts, list(map(before, self.before)), list(map(after, self.after)))

    def holding(self, holds: Callable[[Facts, Facts], bool]) -> tuple[int, Iterator[int]]:
        """Return how many examples something is true of, and their places in order, found as they are asked for."""
        wanted = {pair for pair in self.counts if holds(self.before[pair[0]], self.after[pair[1]])}
        both = enumerate(zip(*self.sides, strict=True))
        return sum(self.counts[pair] for pair in wanted), (place for place, pair in both if pair in wanted)


# Not slotted: what is counted is kept.
@dataclass(frozen=True)
class Paired:
    """Two runs, and which example of the one is which of the other: pairs of places, None where all are in order."""

    before: OutcomePatterns
    after: OutcomePatterns
    pairs: Sequence[tuple[int, int]] | None = None

    @property
    def examples(self) -> int:
        """Return how many examples both runs share."""
        return self.before.examples if self.pairs is None else len(self.pairs)

    @cached_property
    def verdicts(self) -> PairedFacts[Verdicts]:
        """The shared examples by their verdicts."""
        found = self._paired(self.before.outcomes, self.after.outcomes)
        return found.as_facts(partial(_verdicts_of, self.before), partial(_verdicts_of, self.after))

    @cached_property
    def places(self) -> PairedFacts[Places]:
        """The shared examples by their places in the matrix."""
        return self.placed.as_facts(partial(_places_of, self.before), partial(_places_of, self.after))

    @cached_property
    def placed(self) -> PairedFacts[Trials]:
        """The shared examples by the numbers of their trials' cells."""
        return self._paired(self.before.places, self.after.places)

    def _paired(self, first: Patterns, second: Patterns) -> PairedFacts[Trials]:
        sides: tuple[Sequence[int], Sequence[int]] = first.numbers, second.numbers
        if self.pairs is not None:
            sides = [sides[0][place] for place, _ in self.pairs], [sides[1][place] for _, place in self.pairs]
        return PairedFacts(sides, Counter(zip(*sides, strict=True)), first.distinct, second.distinct)


@dataclass(frozen=True, slots=True)
class Weighed:
    """The examples that have a place in both matrices: what each cell holds of them before and after, in whole parts.

    An example is `part` parts, spread evenly over its trials that have a place. `rows` are (place in `before`, place in
    `after`, examples), each pair of places once. A cell is a number, which `cell` reads: numbers are told apart much
    faster than names are, and are in the order of the names, which `names` holds sorted.
    """

    names: Sequence[str]
    before: Sequence[Mapping[int, int]]
    after: Sequence[Mapping[int, int]]
    rows: Sequence[tuple[int, int, int]]
    part: int
    left_out: int

    @property
    def examples(self) -> int:
        return sum(count for _, _, count in self.rows)

    def cell(self, number: int) -> Cell:
        """Return the cell of a number."""
        expected, actual = divmod(number, len(self.names))
        return self.names[expected], self.names[actual]

    def amount(self, parts: int) -> int | float:
        """Return a number of parts as examples: whole, unless they are not."""
        return parts / self.part if parts % self.part else parts // self.part


def weighed(paired: Paired) -> Weighed:
    """Return what the cells hold of the examples."""
    found = paired.placed
    runs = paired.before, paired.after
    names = sorted({name for run in runs for cell in run.cells for name in cell})
    ranks = {name: rank for rank, name in enumerate(names)}
    before, after = (
        _Side.of(trials, [ranks[expected] * len(names) + ranks[actual] for expected, actual in run.cells])
        for run, trials in zip(runs, (found.before, found.after), strict=True)
    )
    first, second = before.placed, after.placed
    rows = [(*pair, count) for pair, count in found.counts.items() if first[pair[0]] and second[pair[1]]]
    placed = {first[row[0]] for row in rows} | {second[row[1]] for row in rows}
    part = min(lcm(*placed), _FINEST)
    left_out = found.counts.total() - sum(count for _, _, count in rows)
    return Weighed(names, before.in_parts(part), after.in_parts(part), rows, part, left_out)


@dataclass(frozen=True, slots=True)
class _Side:
    """The number of trials of each pattern in each cell, and in all cells."""

    cells: Sequence[Mapping[int, int]]
    placed: Sequence[int]

    @classmethod
    def of(cls, patterns: Sequence[Trials], cells: Sequence[int]) -> Self:
        """Return what patterns hold; `cells` are the numbers of the packed cells, in order."""
        numbers = [0, *cells]
        held: list[Mapping[int, int]] = []
        placed = []
        for pattern in patterns:
            trials = pattern if isinstance(pattern, tuple) else (pattern,)
            counts: dict[int, int] = {}
            for one in trials:
                if one:
                    number = numbers[one]
                    counts[number] = counts.get(number, 0) + 1
            held.append(counts)
            placed.append(len(trials) - trials.count(0))
        return cls(held, placed)

    def in_parts(self, part: int) -> list[Mapping[int, int]]:
        return [_in_parts(cells, placed, part) for cells, placed in zip(self.cells, self.placed, strict=True)]


def _in_parts(cells: Mapping[int, int], placed: int, part: int) -> Mapping[int, int]:
    if placed in (0, part):
        return cells
    if part % placed == 0:
        each = part // placed
        return {cell: trials * each for cell, trials in cells.items()}
    return {cell: round(part * trials / placed) for cell, trials in cells.items()}


def _verdicts_of(run: OutcomePatterns, trials: Trials) -> Verdicts:
    letters = map(run.letters_of, trials if isinstance(trials, tuple) else (trials,))
    columns = list(zip(*letters, strict=True))
    shares = tuple((column.count("p"), column.count("p") + column.count("f")) for column in columns)
    return Verdicts(shares, tuple(column.count("e") for column in columns))


def _places_of(run: OutcomePatterns, trials: Trials) -> Places:
    if not isinstance(trials, tuple):
        return Places({run.cells[trials - 1]: 1}, 1) if trials else Places({}, 0)
    cells: dict[Cell, int] = {}
    placed = 0
    for number in trials:
        if number:
            cell = run.cells[number - 1]
            cells[cell] = cells.get(cell, 0) + 1
            placed += 1
    return Places(cells, placed)
