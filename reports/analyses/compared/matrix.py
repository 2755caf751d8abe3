"""What moved in the matrix of first calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from reports.analyses.compared.pairing import Weighed
from reports.analyses.matrix import Order, matrix_of
from toolevals.runs.packed import Cell


# A tuple, since a comparison is kept with all its cells: it is written and read much faster.
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
        """Whether the change is as it should be: more on the diagonal, less elsewhere; None without one."""
        return (self.delta > 0) == self.right if self.delta else None

    @property
    def share(self) -> float:
        """The change as a part of what expected its class before; 1 where nothing did."""
        return min(1.0, abs(self.delta) / self.row_total) if self.row_total else 1.0


@dataclass(frozen=True, slots=True)
class MatrixDelta:
    """The cells of either matrix, over the examples with a place in both; classes by support, cells by name."""

    examples: int
    left_out: int
    classes: tuple[str, ...]
    cells: tuple[CellDelta, ...]

    @property
    def moved(self) -> tuple[CellDelta, ...]:
        """The cells that an example entered or left, the largest change first."""
        found = (cell for cell in self.cells if cell.moved)
        return tuple(sorted(found, key=lambda cell: (-abs(cell.delta), -cell.moved, cell.expected, cell.actual)))


def matrix_delta(found: Weighed) -> MatrixDelta:
    """Return the difference of two matrices."""
    sides = _sums(found)
    entered, left = _moves(found)
    rows: Counter[str] = Counter()
    for (expected, _), parts in sides[0].items():
        rows[expected] += parts
    classes = matrix_of(sides[0] + sides[1], Order.SUPPORT).columns
    cells = [
        CellDelta(
            expected=cell[0],
            actual=cell[1],
            before=found.amount(sides[0][cell]),
            after=found.amount(sides[1][cell]),
            delta=found.amount(sides[1][cell] - sides[0][cell]),
            entered=entered.get(cell, 0),
            left=left.get(cell, 0),
            row_total=found.amount(rows[cell[0]]),
        )
        for cell in sorted(sides[0].keys() | sides[1].keys())
    ]
    return MatrixDelta(found.examples, found.left_out, classes, tuple(cells))


def _moves(found: Weighed) -> tuple[Mapping[Cell, int], Mapping[Cell, int]]:
    """Return how many examples entered, and left, each cell."""
    entered: defaultdict[Cell, int] = defaultdict(int)
    left: defaultdict[Cell, int] = defaultdict(int)
    for first, second, count in found.rows:
        was, now = found.before[first], found.after[second]
        if was == now:
            continue
        for cell, parts in now.items():
            before = was.get(cell, 0)
            if parts != before:
                (entered if parts > before else left)[cell] += count
        for cell in was:
            if cell not in now:
                left[cell] += count
    return entered, left


def _sums(found: Weighed) -> tuple[Counter[Cell], Counter[Cell]]:
    """Return both matrices, in parts; what occurs again is counted first."""
    sums: tuple[Counter[Cell], Counter[Cell]] = Counter(), Counter()
    for side, (total, held) in enumerate(zip(sums, (found.before, found.after), strict=True)):
        often = [0] * len(held)
        for row in found.rows:
            often[row[side]] += row[2]
        for weights, examples in zip(held, often, strict=True):
            for cell, parts in weights.items():
                total[cell] += parts * examples
    return sums
