"""Work out how many examples have which parts of a cell, and which counts of a class, before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import lcm
from typing import Final, Self

from reports.analyses.compared.pairing import Paired, Places
from toolevals.grading.metrics.comparison import ClassCounts
from toolevals.runs.aggregates.packed_cases import Cell

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
