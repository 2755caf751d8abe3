"""Define cells of the confusion matrix, and the parts of classes that their rows and columns may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

from reports.analyses.costs import Cost
from reports.analyses.rates import ExampleSums, Rate, rate


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a class: of which whole, what its cases have in common, at which place among its like.

    Of a called class that is the verdict on their arguments, of an expected one the value that the gold names.
    """

    whole: str
    status: str
    place: int


@dataclass(frozen=True, slots=True)
class Cell:
    """The number of cases (or pairs) with one expected class that were answered with one actual class."""

    expected: str
    actual: str
    count: int
    row_total: int
    column_total: int
    # What its cases cost, where that is asked for and any of them says.
    cost: Cost | None = None
    # Of a called class that is divided: which part of it this is; and the same of an expected one.
    part: Part | None = None
    expected_part: Part | None = None
    # The sums over the examples of its row, where those have several trials or calls; of the whole matrix it passes.
    row_sums: ExampleSums | None = None

    @property
    def called(self) -> str:
        """The class that was called: `actual`, or the whole that it is a part of."""
        return self.part.whole if self.part else self.actual

    @property
    def expected_class(self) -> str:
        """The class that was expected: `expected`, or the whole that it is a part of."""
        return self.expected_part.whole if self.expected_part else self.expected

    @property
    def expected_value(self) -> str:
        """The value that the gold names, where classes are divided by it."""
        return self.expected_part.status if self.expected_part else ""

    @property
    def arguments(self) -> str:
        """The verdict on the arguments, where classes are divided by it."""
        return self.part.status if self.part else ""

    @property
    def right(self) -> bool:
        """Return whether nothing is wrong with it: called as expected, and with right arguments as far as is known."""
        return self.expected_class == self.called and self.arguments != "failed"

    @property
    def row_share(self) -> float | None:
        return self.count / self.row_total if self.row_total else None

    @property
    def column_share(self) -> float | None:
        return self.count / self.column_total if self.column_total else None

    @property
    def spent(self) -> float | None:
        """Return what its cases cost together, as far as they say."""
        return None if self.cost is None else float(self.cost.total)

    @property
    def costed(self) -> int | None:
        """Return how many of its cases say what they cost."""
        return None if self.cost is None else self.cost.known

    @property
    def rate(self) -> Rate:
        """The share of its row, with interval."""
        return rate(self.count, self.row_total, self.row_sums)


class Cells(Sequence[Cell]):
    """Cells of a matrix in some order, each made when it is looked at: there may be tens of thousands.

    `keys` are their (expected, actual).
    """

    def __init__(self, cell: Callable[[str, str], Cell], keys: Sequence[tuple[str, str]]) -> None:
        self.keys = keys
        self._cell = cell

    @overload
    def __getitem__(self, place: int) -> Cell: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Cell, ...]: ...

    def __getitem__(self, place: int | slice) -> Cell | tuple[Cell, ...]:
        if isinstance(place, slice):
            return tuple(self._cell(*key) for key in self.keys[place])
        return self._cell(*self.keys[place])

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]
