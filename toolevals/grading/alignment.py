"""The best one-to-one assignment of expected calls to actual ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf


def best_assignment(weights: Sequence[Sequence[int]]) -> list[int | None]:
    """Return each row's column in an assignment of the greatest total weight; None for a row that has none.

    `weights[row][column]` is at least 0, and 0 says that the two must not be put together. No column serves two rows.
    The Hungarian method by shortest augmenting paths (H. W. Kuhn, 1955; R. Jonker and A. Volgenant, 1987): cubic at
    worst, and near the number of cells where few rows compete for one column.
    """
    columns = len(weights[0]) if weights else 0
    if len(weights) == 1:
        best = max(range(columns), key=weights[0].__getitem__, default=None)
        return [best if best is not None and weights[0][best] else None]
    if not columns:
        return [None] * len(weights)
    square = max(len(weights), columns)
    costs = [[-weight for weight in row] + [0] * (square - columns) for row in weights]
    row_of = _cheapest(costs, square)
    assigned: list[int | None] = [None] * len(weights)
    for column, row in enumerate(row_of[1 : columns + 1]):
        if row and weights[row - 1][column]:
            assigned[row - 1] = column
    return assigned


@dataclass(slots=True)
class _Search:
    """Rows added one by one, each by the cheapest path that may move earlier ones. Index 0 is a start, not a cell."""

    costs: Sequence[Sequence[int]]
    row_price: list[float]
    column_price: list[float]
    row_of: list[int]

    def add(self, row: int) -> None:
        """Give `row` (from 1) a column."""
        self.row_of[0] = row
        size = len(self.row_of)
        slack: list[float] = [inf] * size
        before = [0] * size
        reached: list[int] = []
        waiting = list(range(1, size))
        column = 0
        while True:
            reached.append(column)
            column, step = self._nearest(column, slack, before, waiting)
            for each in reached:
                self.row_price[self.row_of[each]] += step
                self.column_price[each] -= step
            waiting.remove(column)
            for each in waiting:
                slack[each] -= step
            if not self.row_of[column]:
                break
        while column:
            self.row_of[column] = self.row_of[before[column]]
            column = before[column]

    def _nearest(self, reached: int, slack: list[float], before: list[int], waiting: list[int]) -> tuple[int, float]:
        row = self.row_of[reached]
        costs, price, column_price = self.costs[row - 1], self.row_price[row], self.column_price
        nearest, least = 0, inf
        for column in waiting:
            cost = costs[column - 1] - price - column_price[column]
            if cost < slack[column]:
                slack[column] = cost
                before[column] = reached
            if slack[column] < least or (slack[column] == least and self.row_of[nearest] and not self.row_of[column]):
                # Of equals a free column, which ends the search.
                nearest, least = column, slack[column]
        return nearest, least


def _cheapest(costs: Sequence[Sequence[int]], columns: int) -> list[int]:
    """Return each column's row, both from 1 and 0 for none, in a cheapest assignment of all rows."""
    search = _Search(costs, [0.0] * (len(costs) + 1), [0.0] * (columns + 1), [0] * (columns + 1))
    for row in range(1, len(costs) + 1):
        search.add(row)
    return search.row_of
