"""Work out what moved in the matrix of first calls."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from operator import add, or_, sub
from typing import NamedTuple, Self

from reports.compare.pairing import Tally
from reports.matrix.analysis import classes_by_support
from toolevals.grading.metrics.comparison import ClassCounts, PairedClass, holm, mcnemar, paired_class
from toolevals.grading.values.verdicts import UNKNOWN_TOOL, UNPARSED


# A tuple: it is made much faster, and a comparison has thousands.
class CellDelta(NamedTuple):
    """One cell: examples before and after (parts of one, with several trials), and the examples that moved.

    `entered` examples stand in it more after than before, `left` less. `row_total` is what expected its class before.
    """

    expected: str
    actual: str
    before: int | float
    after: int | float
    delta: int | float
    entered: int
    left: int
    row_total: int | float

    @property
    def moved(self) -> int:
        """The examples behind the change, both ways."""
        return self.entered + self.left

    @property
    def right(self) -> bool:
        return self.expected == self.actual

    @property
    def better(self) -> bool | None:
        """Return whether the change is as it should be: more on the diagonal, less elsewhere; None without one."""
        return (self.delta > 0) == self.right if self.delta else None

    @property
    def share(self) -> float:
        """The change as a part of what expected its class before; 1 where nothing did."""
        return min(1.0, abs(self.delta) / self.row_total) if self.row_total else 1.0


@dataclass(frozen=True, slots=True)
class MatrixDelta:
    """The cells of either matrix, over the examples with a place in both; classes by support, cells by name.

    Thousands of cells are kept as columns, and read one by one: `numbers` are those of a Tally of `names`, and amounts
    are in parts, `part` of them an example. `row_totals` is by place among the names.
    """

    examples: int
    left_out: int
    classes: tuple[str, ...]
    names: tuple[str, ...]
    part: int
    numbers: array[int]
    before: array[int]
    after: array[int]
    entered: array[int]
    left: array[int]
    row_totals: tuple[int, ...]

    @property
    def cells(self) -> Iterator[CellDelta]:
        """Yield every cell."""
        return map(self.cell, range(len(self.numbers)))

    def cell(self, place: int) -> CellDelta:
        """Return a cell by its place."""
        expected, actual = divmod(self.numbers[place], len(self.names))
        before, after, amount = self.before[place], self.after[place], self._amount
        moved = amount(before), amount(after), amount(after - before), self.entered[place], self.left[place]
        return CellDelta(self.names[expected], self.names[actual], *moved, amount(self.row_totals[expected]))

    @property
    def moved(self) -> list[int]:
        """The places of the cells that an example entered or left, the largest change first."""
        changes = list(map(abs, map(sub, self.after, self.before)))
        moved = list(map(add, self.entered, self.left))
        places = [place for place, count in enumerate(moved) if count]
        # Cells are in the order of their names, which sorting keeps.
        places.sort(key=moved.__getitem__, reverse=True)
        places.sort(key=changes.__getitem__, reverse=True)
        return places

    def touched(self, places: Sequence[int]) -> set[str]:
        """Return the classes that these cells are of."""
        many, names = len(self.names), self.names
        numbers = {self.numbers[place] for place in places}
        return {name for number in numbers for name in (names[number // many], names[number % many])}

    def _amount(self, parts: int) -> int | float:
        return parts / self.part if parts % self.part else parts // self.part


def matrix_delta(tally: Tally) -> MatrixDelta:
    """Return the difference of two matrices."""
    cells, names, numbers = tally.cells, tally.cells.names, tally.cells.numbers
    held = list(map(or_, tally.before, tally.after))
    rows, expecting, called = ([0] * len(names) for _ in range(3))
    for row, column, before, after in zip(cells.expected, cells.called, tally.before, tally.after, strict=True):
        rows[row] += before
        both = before + after
        expecting[row] += both
        called[column] += both
    totals = ({name: parts for name, parts in zip(names, side, strict=True) if parts} for side in (expecting, called))
    return MatrixDelta(
        examples=tally.examples,
        left_out=tally.left_out,
        classes=classes_by_support(*totals),
        names=tuple(names),
        part=tally.part,
        numbers=array("Q", compress(numbers, held)),
        before=array("Q", compress(tally.before, held)),
        after=array("Q", compress(tally.after, held)),
        entered=array("Q", compress(tally.entered, held)),
        left=array("Q", compress(tally.left, held)),
        row_totals=tuple(rows),
    )


ALPHA = 0.05
Pairs = Counter[tuple[ClassCounts, ClassCounts]]
Amount = int | float


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The examples, before and after, that missed a class or called it wrongly (parts of one, with several trials).

    `fixed` and `broken` examples have fewer and more of them; `p_value` is that of the exact sign test on these, which
    is McNemar's with one trial an example, and `p_holm` is adjusted over both kinds of mistakes of every class.
    """

    before: Amount
    after: Amount
    fixed: int
    broken: int
    p_value: float
    p_holm: float


# Not slotted: the figures are kept once they are made.
@dataclass(frozen=True)
class ToolDelta:
    """One class: how many examples expect it (support) and call it (predicted), before and after, and its mistakes."""

    name: str
    support: tuple[Amount, Amount]
    predicted: tuple[Amount, Amount]
    missed: Mistakes
    wrong: Mistakes
    pairs: Pairs = field(repr=False)

    @cached_property
    def figures(self) -> PairedClass:
        """Precision, recall and F1 with the intervals of their differences."""
        return paired_class(self.pairs)

    @property
    def averaged(self) -> bool:
        """Return whether it can be expected: `(unknown tool)` and `(unparsed)` have no recall and no F1 of use."""
        return self.name not in (UNKNOWN_TOOL, UNPARSED)

    @property
    def moved(self) -> int:
        """Mistakes of examples that were fixed or broken."""
        return self.missed.fixed + self.missed.broken + self.wrong.fixed + self.wrong.broken

    @property
    def stands(self) -> bool:
        """Return whether a change stands on its own after the correction."""
        return min(self.missed.p_holm, self.wrong.p_holm) < ALPHA


def tool_deltas(tally: Tally) -> tuple[ToolDelta, ...]:
    """Return a row for each class, what moved most first."""
    found = [(name, pairs, _Figures.of(pairs)) for name, pairs in _class_pairs(tally).items()]
    tests = [mcnemar(broken, fixed) for _, _, figures in found for fixed, broken in figures.moved]
    adjusted = iter(zip(tests, holm(tests), strict=True))
    rows = [_row(name, pairs, figures, adjusted, tally) for name, pairs, figures in found]
    return tuple(sorted(rows, key=lambda row: (-row.moved, -row.support[0], row.name)))


def _row(
    name: str, pairs: Pairs, figures: _Figures, tests: Iterator[tuple[float, float | None]], tally: Tally
) -> ToolDelta:
    before, after = figures.before, figures.after

    def mistakes(kind: int) -> Mistakes:
        p_value, p_holm = next(tests)
        amounts = [tally.amount(side[1 + kind] - side[0]) for side in (before, after)]
        return Mistakes(amounts[0], amounts[1], *figures.moved[kind], p_value, 1.0 if p_holm is None else p_holm)

    return ToolDelta(
        name=name,
        support=(tally.amount(before[1]), tally.amount(after[1])),
        predicted=(tally.amount(before[2]), tally.amount(after[2])),
        missed=mistakes(0),
        wrong=mistakes(1),
        pairs=pairs,
    )


def _class_pairs(tally: Tally) -> dict[str, Pairs]:
    """Return how many examples have which counts of each class, before and after."""
    pairs: defaultdict[str, Pairs] = defaultdict(Counter)
    for (place, was, now), count in tally.classes.items():
        pairs[tally.cells.names[place]][was, now] = count
    return pairs


@dataclass(frozen=True, slots=True)
class _Figures:
    """The counts of a class: (correct, expected, called) in parts, before and after; mistakes, missed and wrong.

    `moved` are the examples with fewer, and with more, of each of them.
    """

    before: ClassCounts
    after: ClassCounts
    moved: tuple[tuple[int, int], tuple[int, int]]

    @classmethod
    def of(cls, pairs: Pairs) -> Self:
        """Return the figures of a class."""
        sums, moved = [0] * 6, [0] * 4
        for (was, now), count in pairs.items():
            for place in range(3):
                sums[place] += was[place] * count
                sums[3 + place] += now[place] * count
            right = now[0] - was[0]
            for kind in (0, 1):
                change = now[1 + kind] - was[1 + kind] - right
                if change:
                    moved[2 * kind + (change > 0)] += count
        return cls(
            (sums[0], sums[1], sums[2]), (sums[3], sums[4], sums[5]), ((moved[0], moved[1]), (moved[2], moved[3]))
        )
