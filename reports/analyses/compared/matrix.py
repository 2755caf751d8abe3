"""Work out what moved in the matrix of first calls."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import add, or_, sub
from typing import NamedTuple

from reports.analyses.compared.tallying import Tally
from reports.matrix.analysis import classes_by_support


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
