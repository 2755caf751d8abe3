"""The confusion matrix: expected x actual, with its sums, shares and order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from reports.analyses.rates import Rate, rate
from toolevals.grading.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

# They stand last, in this order, whatever the order of the tools.
SPECIAL = (NONE, UNKNOWN_TOOL, UNPARSED)


class Order(StrEnum):
    """How rows and columns are ordered."""

    ERROR = "error"
    SUPPORT = "support"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Cell:
    """How many cases (or pairs) with one expected class were answered with one actual class."""

    expected: str
    actual: str
    count: int
    row_total: int
    column_total: int

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
    def rate(self) -> Rate:
        """The share of its row, with interval."""
        return rate(self.count, self.row_total)


# Not slotted: the derived lists are kept once they are made.
@dataclass(frozen=True)
class Matrix:
    """Counts above zero, and the classes in order. `rows` are the classes that were expected at least once."""

    counts: Mapping[tuple[str, str], int]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_totals: Mapping[str, int]
    column_totals: Mapping[str, int]

    @cached_property
    def total(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def accuracy(self) -> Rate:
        """Right cells among all."""
        return rate(sum(count for (left, right), count in self.counts.items() if left == right), self.total)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that hold something, row by row."""
        by_row: dict[str, list[Cell]] = {row: [] for row in self.rows}
        for expected, actual in self.counts:
            by_row[expected].append(self.cell(expected, actual))
        place = {name: number for number, name in enumerate(self.columns)}
        return tuple(cell for row in self.rows for cell in sorted(by_row[row], key=lambda cell: place[cell.actual]))

    @cached_property
    def confusions(self) -> tuple[Cell, ...]:
        """The cells off the diagonal, largest first."""
        wrong = (cell for cell in self.cells if not cell.right)
        return tuple(sorted(wrong, key=lambda cell: (-cell.count, -cell.row_share, cell.expected, cell.actual)))

    def cell(self, expected: str, actual: str) -> Cell:
        """Return one cell, of count 0 where nothing was counted."""
        return Cell(
            expected,
            actual,
            self.counts.get((expected, actual), 0),
            self.row_totals.get(expected, 0),
            self.column_totals.get(actual, 0),
        )

    def recall(self, name: str) -> Rate:
        """How many of those that expected `name` got it."""
        return rate(self.counts.get((name, name), 0), self.row_totals.get(name, 0))

    def precision(self, name: str) -> Rate:
        """How many of those that got `name` expected it."""
        return rate(self.counts.get((name, name), 0), self.column_totals.get(name, 0))

    def confused_only(self) -> Matrix:
        """Return the matrix without the classes that no confusion touches; sums stay those of the whole."""
        touched = {name for cell in self.confusions for name in (cell.expected, cell.actual)}
        return Matrix(
            counts={key: count for key, count in self.counts.items() if key[0] in touched and key[1] in touched},
            rows=tuple(name for name in self.rows if name in touched),
            columns=tuple(name for name in self.columns if name in touched),
            row_totals=self.row_totals,
            column_totals=self.column_totals,
        )


def matrix_of(counts: Mapping[tuple[str, str], int], order: Order = Order.ERROR) -> Matrix:
    """Return the matrix of `counts` by (expected, actual)."""
    held = {key: count for key, count in counts.items() if count}
    row_totals, column_totals, errors = Counter[str](), Counter[str](), Counter[str]()
    for (expected, actual), count in held.items():
        row_totals[expected] += count
        column_totals[actual] += count
        if expected != actual:
            errors[expected] += count
            errors[actual] += count
    keys: dict[Order, Callable[[str], tuple[object, ...]]] = {
        Order.NAME: lambda name: (name,),
        Order.SUPPORT: lambda name: (-row_totals[name], -column_totals[name], name),
        Order.ERROR: lambda name: (-errors[name], -row_totals[name], name),
    }
    columns = _ordered(set(row_totals) | set(column_totals), keys[order])
    return Matrix(held, tuple(name for name in columns if name in row_totals), columns, row_totals, column_totals)


def _ordered(names: Iterable[str], key: Callable[[str], tuple[object, ...]]) -> tuple[str, ...]:
    found = set(names)
    tools = sorted(found.difference(SPECIAL), key=key)
    return (*tools, *(name for name in SPECIAL if name in found))
