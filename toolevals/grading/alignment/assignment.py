"""Finds the best one-to-one assignment of expected calls to actual ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf


def best_assignment(weights: Sequence[Sequence[int]]) -> list[int | None]:
    """Return each row's column in an assignment of the greatest total weight; None for a row that has none.

    `weights[row][column]` is at least 0, and 0 says that the two must not be put together. No column serves two rows.
    Rows that compete for no column with others are assigned apart from them, so that the cost grows with the number of
    cells; among those that compete it is cubic at worst. The Hungarian method by shortest augmenting paths
    (H. W. Kuhn, 1955; R. Jonker and A. Volgenant, 1987).
    """
    if len(weights) > 1 and all(weights[0]):
        # The first row competes for every column, so all hang together.
        return priced_assignment(weights)[0]
    assigned: list[int | None] = [None] * len(weights)
    for rows, columns in _competitions(weights):
        if len(rows) == 1:
            assigned[rows[0]] = max(columns, key=weights[rows[0]].__getitem__)
            continue
        chosen, _ = priced_assignment([[weights[row][column] for column in columns] for row in rows])
        for row, place in zip(rows, chosen, strict=True):
            assigned[row] = None if place is None else columns[place]
    return assigned


def priced_assignment(weights: Sequence[Sequence[int]]) -> tuple[list[int | None], list[int]]:
    """Return the best assignment and a price of each column, at least 0.

    The prices prove it the best: what the rows would gain at them, each by its best column less its price, and the
    prices together are no more than the total weight (the dual of the assignment).
    """
    columns = len(weights[0]) if weights else 0
    assigned: list[int | None] = [None] * len(weights)
    if not columns:
        return assigned, []
    # Every row gets a column; at one of weight 0 it stays without.
    square = max(len(weights), columns)
    costs = [[-weight for weight in row] + [0] * (square - columns) for row in weights]
    search = _Search(costs, [0] * (len(weights) + 1), [0] * (square + 1), [0] * (square + 1))
    for row in range(1, len(weights) + 1):
        search.add(row)
    for column, row in enumerate(search.row_of[1 : columns + 1]):
        if row and weights[row - 1][column]:
            assigned[row - 1] = column
    return assigned, [-price for price in search.column_price[1 : columns + 1]]


def _competitions(weights: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the rows and columns that hang together by cells above 0."""
    columns_of = [[column for column, weight in enumerate(row) if weight] for row in weights]
    rows_of: dict[int, list[int]] = {}
    for row, columns in enumerate(columns_of):
        for column in columns:
            rows_of.setdefault(column, []).append(row)
    seen: set[int] = set()
    for first, columns in enumerate(columns_of):
        if first in seen or not columns:
            continue
        seen.add(first)
        rows, found = [first], dict.fromkeys(columns)
        for column in _growing(found):
            for row in rows_of.pop(column):
                if row not in seen:
                    seen.add(row)
                    rows.append(row)
                    found.update(dict.fromkeys(columns_of[row]))
        yield sorted(rows), sorted(found)


def _growing(found: dict[int, None]) -> Iterator[int]:
    """Yield the keys of a dict that grows meanwhile."""
    done = 0
    while done < len(found):
        waiting = list(found)[done:]
        done += len(waiting)
        yield from waiting


@dataclass(slots=True)
class _Search:
    """Rows added one by one, each by the cheapest path that may move earlier ones. Index 0 is a start, not a cell."""

    costs: Sequence[Sequence[int]]
    row_price: list[int]
    column_price: list[int]
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
            if step:
                for each in reached:
                    self.row_price[self.row_of[each]] += step
                    self.column_price[each] -= step
                for each in waiting:
                    slack[each] -= step
            waiting.remove(column)
            if not self.row_of[column]:
                break
        while column:
            self.row_of[column] = self.row_of[before[column]]
            column = before[column]

    def _nearest(self, reached: int, slack: list[float], before: list[int], waiting: list[int]) -> tuple[int, int]:
        row = self.row_of[reached]
        costs, price, column_price, row_of = self.costs[row - 1], self.row_price[row], self.column_price, self.row_of
        nearest, least = 0, inf
        for column in waiting:
            cost = costs[column - 1] - price - column_price[column]
            if cost < slack[column]:
                slack[column] = cost
                before[column] = reached
            else:
                cost = slack[column]  # type: ignore[assignment]
            if cost < least or (cost == least and row_of[nearest] and not row_of[column]):
                # Of equals a free column, which ends the search.
                nearest, least = column, cost
        return nearest, int(least)
