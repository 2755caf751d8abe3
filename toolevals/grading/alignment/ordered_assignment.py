"""Finds the best assignment of expected calls to actual ones where some are expected in order.

Without unordered calls, and without groups, this is the longest common subsequence, weighted. Unordered calls that
compete with ordered ones make it hard: satisfiability can be written as such a problem, so no method is known that is
both exact and quick on all. Here a good answer is found quickly, a bound tells in most cases that it is the best, and
else a search of bounded length (`ordered_search`) goes for a better one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolevals.grading.alignment.assignment import best_assignment, priced_assignment
from toolevals.grading.alignment.ordered_bound import least_bound
from toolevals.grading.alignment.ordered_search import Search

Weights: TypeAlias = Sequence[Sequence[int]]
Places: TypeAlias = Sequence[int]
Assigned: TypeAlias = list[int | None]


def best_sequence(weights: Weights, positions: Sequence[Places], unordered: Places) -> Assigned:
    """Return each expected call's actual call in the assignment of the greatest total weight; None where it has none.

    `weights[expected][actual]` is at least 0, and 0 says that the two must not be put together. Expected calls of one
    position come before those of the next, in any order within; the `unordered` ones come anywhere. Each actual call
    serves one expected one.

    Proved best with fewer than two positions; where the best assignment without regard to order is in order anyway;
    where the bound is met; and where the search drops no hopeful state (see `ordered_search`), as on all small
    problems. Never worse than taking, for each expected call in turn, the first actual one that fits.
    """
    if len(positions) < 2:
        return best_assignment(weights)
    contested = _contested(weights, positions, unordered)
    assigned = _Contest.of(weights, positions, contested).best()
    free = [each for each in unordered if each not in set(contested)]
    for expected, actual in zip(free, best_assignment([weights[each] for each in free]), strict=True):
        assigned[expected] = actual
    return assigned


def _contested(weights: Weights, positions: Sequence[Places], unordered: Places) -> list[int]:
    """Return the unordered expectations that compete with ordered ones for a call, at first or at further hand."""
    candidates = {each: {actual for actual, weight in enumerate(weights[each]) if weight} for each in unordered}
    wanted = {
        actual for members in positions for each in members for actual, weight in enumerate(weights[each]) if weight
    }
    contested: list[int] = []
    waiting = list(unordered)
    while found := [each for each in waiting if candidates[each] & wanted]:
        contested += found
        wanted = wanted.union(*(candidates[each] for each in found))
        waiting = [each for each in waiting if each not in set(found)]
    return contested


@dataclass(frozen=True, slots=True)
class _Contest:
    """Ordered expectations, and the unordered ones that compete with them, over the calls that any of them wants.

    `columns` are the actual calls by their places here; weights are by these.
    """

    weights: dict[int, list[int]]
    columns: list[int]
    positions: Sequence[Places]
    unordered: Places
    size: int

    @classmethod
    def of(cls, weights: Weights, positions: Sequence[Places], unordered: Places) -> _Contest:
        rows = [each for members in positions for each in members] + list(unordered)
        columns = sorted({actual for row in rows for actual, weight in enumerate(weights[row]) if weight})
        inside = {row: [weights[row][actual] for actual in columns] for row in rows}
        return cls(inside, columns, positions, unordered, len(weights))

    def best(self) -> Assigned:
        """Return the best assignment, by the actual calls' own places."""
        assigned: Assigned = [None] * self.size
        for row, column in self._best().items():
            assigned[row] = self.columns[column]
        return assigned

    def _best(self) -> dict[int, int]:
        rows = list(self.weights)
        chosen, prices = priced_assignment([self.weights[row] for row in rows])
        relaxed = _taken(rows, chosen)
        if self._is_in_order(relaxed):
            return relaxed
        starts = (self._greedy(), self._completed(relaxed, prices))
        best = max((self._improved(start) for start in starts), key=self._total)
        floor = self._total(best)
        bound = least_bound(self.weights, self.positions, self.unordered, prices, floor)
        again = self._improved(self._completed(best, bound.prices))
        if self._total(again) > floor:
            best, floor = again, self._total(again)
        return Search.of(self.weights, bound).better_than(floor) or best

    def _total(self, assigned: dict[int, int]) -> int:
        return sum(self.weights[row][column] for row, column in assigned.items())

    def _is_in_order(self, assigned: dict[int, int]) -> bool:
        last = -1
        for members in self.positions:
            places = [assigned[each] for each in members if each in assigned]
            if places and min(places) < last:
                return False
            last = max([last, *places])
        return True

    def _greedy(self) -> dict[int, int]:
        assigned: dict[int, int] = {}
        used: set[int] = set()
        start = 0
        for members in [*self.positions, self.unordered]:
            first = 0 if members is self.unordered else start
            for row in members:
                weights = self.weights[row]
                fits = (column for column in range(first, len(weights)) if weights[column] and column not in used)
                if (column := next(fits, None)) is not None:
                    assigned[row] = column
                    used.add(column)
                    start = max(start, column + 1)
        return assigned

    def _improved(self, assigned: dict[int, int]) -> dict[int, int]:
        """Return the assignment made better by turns: the best order next to the unordered calls, and the reverse."""
        nothing = [0] * len(self.columns)
        total = self._total(assigned)
        while True:
            kept = {row: assigned[row] for row in self.unordered if row in assigned}
            better = self._completed(assigned, nothing, frozenset(kept.values()))
            if (more := self._total(better)) <= total:
                return assigned
            assigned, total = better, more

    def _completed(
        self, assigned: dict[int, int], prices: Sequence[int], closed: frozenset[int] = frozenset()
    ) -> dict[int, int]:
        """Return the best chain at these prices of the calls that are not closed, and next to it the best of the rest.

        The members of a group come in the order that they have in `assigned`.
        """
        chain = self._chain(self._in_line(assigned), prices, closed)
        taken = set(chain.values())
        left = [column for column in range(len(self.columns)) if column not in taken]
        chosen = best_assignment([[self.weights[row][column] for column in left] for row in self.unordered])
        rest = {row: left[place] for row, place in zip(self.unordered, chosen, strict=True) if place is not None}
        return chain | rest

    def _in_line(self, assigned: dict[int, int]) -> list[int]:
        last = len(self.columns)
        return [row for members in self.positions for row in sorted(members, key=lambda each: assigned.get(each, last))]

    def _chain(self, rows: Sequence[int], prices: Sequence[int], closed: frozenset[int]) -> dict[int, int]:
        """Return the best assignment in just this order: a weighted longest common subsequence."""
        size = len(self.columns)
        tables = [[0] * (size + 1)]
        for row in reversed(rows):
            weights, after = self.weights[row], tables[-1]
            table = [0] * (size + 1)
            for column in range(size - 1, -1, -1):
                most = max(after[column], table[column + 1])
                if (weight := weights[column]) and column not in closed:
                    most = max(most, weight - prices[column] + after[column + 1])
                table[column] = most
            tables.append(table)
        tables.reverse()
        return self._traced(rows, tables)

    @staticmethod
    def _traced(rows: Sequence[int], tables: Sequence[Sequence[int]]) -> dict[int, int]:
        chain: dict[int, int] = {}
        column = 0
        for number, row in enumerate(rows):
            here, after = tables[number], tables[number + 1]
            if here[column] == after[column]:
                continue
            while here[column] == here[column + 1]:
                column += 1
            chain[row] = column
            column += 1
        return chain


def _taken(rows: Sequence[int], chosen: Sequence[int | None]) -> dict[int, int]:
    return {row: column for row, column in zip(rows, chosen, strict=True) if column is not None}
