"""Work out what moved in the matrix of first calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from reports.analyses.compared.pairing import Weighed
from reports.analyses.compared.tallying import Tally
from reports.analyses.matrix import Order, matrix_of
from toolevals.runs.counts.packed_cases import Cell


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
    """The cells of either matrix, over the examples with a place in both; classes by support, cells by name."""

    examples: int
    left_out: int
    classes: tuple[str, ...]
    cells: tuple[CellDelta, ...]

    def __reduce__(self) -> Any:
        # Plain tuples are written and read in a third of the time.
        return _read_again, (self.examples, self.left_out, self.classes, tuple(map(tuple, self.cells)))

    @property
    def moved(self) -> tuple[CellDelta, ...]:
        """The cells that an example entered or left, the largest change first."""
        moved_cells = (cell for cell in self.cells if cell.moved)
        return tuple(sorted(moved_cells, key=lambda cell: (-abs(cell.delta), -cell.moved, cell.expected, cell.actual)))


def _read_again(
    examples: int, left_out: int, classes: tuple[str, ...], cells: Sequence[tuple[Any, ...]]
) -> MatrixDelta:
    return MatrixDelta(examples, left_out, classes, tuple(map(CellDelta._make, cells)))


def matrix_delta(weights: Weighed, tally: Tally) -> MatrixDelta:
    """Return the difference of two matrices."""
    changes = _changes(tally)
    rows: Counter[int] = Counter()
    whole: Counter[Cell] = Counter()
    names, many = weights.names, len(weights.names)
    for number, (before, after, _, _) in changes.items():
        expected, actual = divmod(number, many)
        rows[expected] += before
        whole[names[expected], names[actual]] = before + after
    classes = matrix_of(whole, Order.SUPPORT).columns
    amount = lru_cache(maxsize=None)(weights.amount)
    totals = {place: amount(parts) for place, parts in rows.items()}
    cells = []
    for number in sorted(changes):
        before, after, entered, left = changes[number]
        expected, actual = divmod(number, many)
        moved = amount(before), amount(after), amount(after - before), entered, left
        cells.append(CellDelta(names[expected], names[actual], *moved, totals[expected]))
    return MatrixDelta(weights.examples, weights.left_out, classes, tuple(cells))


def _changes(tally: Tally) -> Mapping[int, Sequence[int]]:
    """Return, by cell: parts before, parts after, examples that entered and that left."""
    changes: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for (cell, was, now), count in tally.cells.items():
        change = changes[cell]
        change[0] += was * count
        change[1] += now * count
        if was != now:
            change[2 if now > was else 3] += count
    return changes
