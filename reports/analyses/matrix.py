"""The confusion matrix: expected x actual, with its sums, shares and order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import overload

from reports.analyses.costs import Cost
from reports.analyses.rates import Rate, rate
from toolevals.grading.metrics.classes import SPECIAL
from toolevals.grading.metrics.seriation import confusable_order


class Order(StrEnum):
    """How rows and columns are ordered."""

    ERROR = "error"
    SUPPORT = "support"
    NAME = "name"
    # Confusable groups together.
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Cell:
    """How many cases (or pairs) with one expected class were answered with one actual class."""

    expected: str
    actual: str
    count: int
    row_total: int
    column_total: int
    # What its cases cost, where that is asked for and any of them says.
    cost: Cost | None = None

    @property
    def right(self) -> bool:
        return self.expected == self.actual

    @property
    def row_share(self) -> float:
        return self.count / self.row_total

    @property
    def column_share(self) -> float:
        return self.count / self.column_total

    @property
    def spent(self) -> float | None:
        """What its cases cost together, as far as they say."""
        return None if self.cost is None else float(self.cost.total)

    @property
    def costed(self) -> int | None:
        """How many of its cases say what they cost."""
        return None if self.cost is None else self.cost.known

    @property
    def rate(self) -> Rate:
        """The share of its row, with interval."""
        return rate(self.count, self.row_total)


class Cells(Sequence[Cell]):
    """Cells of a matrix in some order, each made when it is looked at: there may be tens of thousands.

    `keys` are their (expected, actual).
    """

    def __init__(self, matrix: Matrix, keys: Sequence[tuple[str, str]]) -> None:
        self.keys = keys
        self._matrix = matrix

    @overload
    def __getitem__(self, place: int) -> Cell: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Cell, ...]: ...

    def __getitem__(self, place: int | slice) -> Cell | tuple[Cell, ...]:
        if isinstance(place, slice):
            return tuple(self._matrix.cell(*key) for key in self.keys[place])
        return self._matrix.cell(*self.keys[place])

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


# Not slotted: the derived lists are kept once they are made.
@dataclass(frozen=True)
class Matrix:
    """Counts above zero, and the classes in order. `rows` are the classes that were expected at least once."""

    counts: Mapping[tuple[str, str], int]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_totals: Mapping[str, int]
    column_totals: Mapping[str, int]
    costs: Mapping[tuple[str, str], Cost] = field(default_factory=dict)

    @cached_property
    def total(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def accuracy(self) -> Rate:
        """Right cells among all."""
        return rate(sum(count for (left, right), count in self.counts.items() if left == right), self.total)

    @cached_property
    def cells(self) -> Cells:
        """The cells that hold something, row by row."""
        rows = {name: place * len(self.columns) for place, name in enumerate(self.rows)}
        columns = {name: place for place, name in enumerate(self.columns)}
        # Numbers sort in a fraction of the time that a key function takes.
        places = {rows[expected] + columns[actual]: (expected, actual) for expected, actual in self.counts}
        return Cells(self, [places[place] for place in sorted(places)])

    @cached_property
    def confusions(self) -> Cells:
        """The cells off the diagonal, largest first; of equal ones those with the larger share of their row."""
        ranks = {name: rank for rank, name in enumerate(sorted({*self.rows, *self.columns}))}
        more, many = 1 + max(self.row_totals.values(), default=0), len(ranks)
        # One number of four: the count, the row's total, the ranks of both names.
        one_more = more * many * many
        of_row = {name: (self.row_totals[name] * many + ranks[name]) * many for name in self.rows}
        places = {
            of_row[expected] - one_more * count + ranks[actual]: (expected, actual)
            for (expected, actual), count in self.counts.items()
            if expected != actual
        }
        return Cells(self, [places[place] for place in sorted(places)])

    def cell(self, expected: str, actual: str) -> Cell:
        """Return one cell, of count 0 where nothing was counted."""
        return Cell(
            expected,
            actual,
            self.counts.get((expected, actual), 0),
            self.row_totals.get(expected, 0),
            self.column_totals.get(actual, 0),
            self.costs.get((expected, actual)),
        )

    def recall(self, name: str) -> Rate:
        """How many of those that expected `name` got it."""
        return rate(self.counts.get((name, name), 0), self.row_totals.get(name, 0))

    def precision(self, name: str) -> Rate:
        """How many of those that got `name` expected it."""
        return rate(self.counts.get((name, name), 0), self.column_totals.get(name, 0))

    def confused_only(self) -> Matrix:
        """Return the matrix without the classes that no confusion touches; sums stay those of the whole."""
        return self.limited({name for key in self.counts if key[0] != key[1] for name in key})

    def found(self, wanted: str) -> Matrix:
        """Return the classes whose name holds `wanted`, in any case, with those that they are confused with.

        Of these others what is right stays as well: their recall and precision are those of the whole.
        """
        wanted = wanted.casefold()
        hit = {name for name in (*self.rows, *self.columns) if wanted in name.casefold()}
        beside = {name for key in self.counts if hit.intersection(key) for name in key}
        limited = self.limited(hit | beside)
        kept = {key: count for key, count in limited.counts.items() if key[0] == key[1] or hit.intersection(key)}
        return replace(limited, counts=kept)

    def limited(self, names: Collection[str]) -> Matrix:
        """Return the matrix of some classes; sums stay those of the whole."""
        if set(self.columns).issubset(names):
            return self
        return replace(
            self,
            counts={key: count for key, count in self.counts.items() if key[0] in names and key[1] in names},
            rows=tuple(name for name in self.rows if name in names),
            columns=tuple(name for name in self.columns if name in names),
        )


def matrix_of(
    counts: Mapping[tuple[str, str], int],
    order: Order = Order.ERROR,
    costs: Mapping[tuple[str, str], Cost] | None = None,
) -> Matrix:
    """Return the matrix of `counts` by (expected, actual), with what its cells cost."""
    held = {key: count for key, count in counts.items() if count}
    row_totals, column_totals = _totals(held)
    names = row_totals.keys() | column_totals.keys()
    errors = {name: row_totals[name] + column_totals[name] - 2 * held.get((name, name), 0) for name in names}
    keys: dict[Order, Callable[[str], tuple[object, ...]]] = {
        Order.NAME: lambda name: (name,),
        Order.SUPPORT: lambda name: (-row_totals[name], -column_totals[name], name),
        Order.ERROR: lambda name: (-errors[name], -row_totals[name], name),
    }
    tools = sorted(names.difference(SPECIAL), key=keys.get(order, keys[Order.NAME]))
    if order is Order.CLUSTER:
        tools = confusable_order(tools, held)
    columns = (*tools, *(name for name in SPECIAL if name in names))
    rows = tuple(name for name in columns if name in row_totals)
    return Matrix(held, rows, columns, row_totals, column_totals, costs or {})


def _totals(counts: Mapping[tuple[str, str], int]) -> tuple[Counter[str], Counter[str]]:
    """Return the sums of the rows and of the columns."""
    rows: defaultdict[str, int] = defaultdict(int)
    columns: defaultdict[str, int] = defaultdict(int)
    for (expected, actual), count in counts.items():
        rows[expected] += count
        columns[actual] += count
    return Counter(rows), Counter(columns)
