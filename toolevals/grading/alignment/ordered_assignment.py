"""Finds the best assignment of expected calls to actual ones where some are expected in order.

Without unordered calls, and without groups, this is the longest common subsequence, weighted. Unordered calls that
compete with ordered ones make it hard: satisfiability can be written as such a problem, so no method is known that is
both exact and quick on all. Here a good answer is found quickly, a bound tells in most cases that it is the best, and
else a search of bounded length goes for a better one.

Bounds what an assignment in order can weigh, by prices of the calls (Lagrangian relaxation).

That each call serves one expectation is given up and paid for instead: whatever the prices, no assignment weighs more
than all of them together, and the best chain and the best call of each unordered expectation, less the prices of their
calls (M. Held and R. M. Karp, 1971). The lower the bound, the better the prices: one that is wanted twice rises, one
that no one wants falls.

Searches for a better assignment in order, call by call, bounded in length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

from toolevals.grading.alignment.assignment import best_assignment, priced_assignment

# How often prices are mended: at most, at least, and between the two until so many cells were looked at.
MOST_ROUNDS, LEAST_ROUNDS, MOST_CELLS = 20, 4, 40_000


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that can still be gained from a call on.

    A position is as many slots as it has members; each takes a call at the price of the member that gains most by it.
    `chain[slot][call]` is gained by that slot and those after it, `ahead[expected][call]` by one expected call,
    `costs[call]` are the prices from there on; each with a last column of zeros. `slots[position]` is its first slot.
    """

    positions: Sequence[Sequence[int]]
    unordered: Sequence[int]
    prices: Sequence[int]
    slots: Sequence[int]
    chain: Sequence[Sequence[int]]
    ahead: Mapping[int, Sequence[int]]
    costs: Sequence[int]

    @classmethod
    def of(
        cls,
        weights: Mapping[int, Sequence[int]],
        positions: Sequence[Sequence[int]],
        unordered: Sequence[int],
        prices: Sequence[int],
    ) -> Bound:
        """Return the bound at these prices, each at least 0."""
        gains = {
            row: [max(0, weight - price) for weight, price in zip(each, prices, strict=True)]
            for row, each in weights.items()
        }
        ahead = {row: _suffixes(gain, max) for row, gain in gains.items()}
        chain = [[0] * (len(prices) + 1)]
        for members in reversed(positions):
            gain = [max(each) for each in zip(*(gains[member] for member in members), strict=True)]
            for _ in members:
                chain.append(_slot(gain, chain[-1]))
        chain.reverse()
        slots = list(accumulate(map(len, positions), initial=0))
        costs = _suffixes(prices, lambda left, right: left + right)
        return cls(positions, unordered, prices, slots, chain, ahead, costs)

    @property
    def most(self) -> int:
        """No assignment weighs more than this."""
        return self.chain[0][0] + sum(self.ahead[each][0] for each in self.unordered) + self.costs[0]

    def wanted(self) -> list[int]:
        """Return how many expectations want each call at these prices."""
        wanted = [0] * len(self.prices)
        for call in self._wants():
            wanted[call] += 1
        return wanted

    def _wants(self) -> Iterator[int]:
        call = 0
        for here, after in pairwise(self.chain):
            while here[call] > after[call] and here[call] == here[call + 1]:
                call += 1
            if here[call] > after[call]:
                yield call
                call += 1
        for each in self.unordered:
            gain, call = self.ahead[each], 0
            while gain[call] and gain[call] == gain[call + 1]:
                call += 1
            if gain[call]:
                yield call


def least_bound(
    weights: Mapping[int, Sequence[int]],
    positions: Sequence[Sequence[int]],
    unordered: Sequence[int],
    prices: Sequence[int],
    floor: int,
) -> Bound:
    """Return the least bound found from these prices on, or the first that is no more than `floor`.

    By subgradient steps of the length that would reach the floor, halved where three in a row bring nothing
    (B. T. Polyak, 1969).
    """
    best = bound = Bound.of(weights, positions, unordered, prices)
    share, in_vain = 1.0, 0
    cells = len(weights) * len(prices)
    for _ in range(max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_CELLS // cells))):
        slopes = [
            wanted - 1 if wanted > 1 or price else 0 for wanted, price in zip(bound.wanted(), bound.prices, strict=True)
        ]
        steepness = sum(slope * slope for slope in slopes)
        if best.most <= floor or not steepness:
            break
        step = share * (bound.most - floor) / steepness
        mended = [max(0, round(price + step * slope)) for price, slope in zip(bound.prices, slopes, strict=True)]
        bound = Bound.of(weights, positions, unordered, mended)
        if bound.most < best.most:
            best, in_vain = bound, 0
        elif (in_vain := in_vain + 1) % 3 == 0:
            share /= 2
    return best


def _slot(gain: Sequence[int], after: Sequence[int]) -> list[int]:
    table = [0] * len(after)
    most = 0
    for call in range(len(gain) - 1, -1, -1):
        most = table[call] = max(most, after[call], gain[call] + after[call + 1])
    return table


def _suffixes(values: Sequence[int], combine: Callable[[int, int], int]) -> list[int]:
    combined = [0] * (len(values) + 1)
    for place in range(len(values) - 1, -1, -1):
        combined[place] = combine(values[place], combined[place + 1])
    return combined


# About how many steps from one partial assignment to another a search may try, a step being about a microsecond; less
# so many for each cell, which have been looked at so often before, but never less than a quarter.
MAX_STEPS = 30_000
STEPS_PER_CELL = 5
# How many partial assignments are kept after each call at least, the most promising ones.
LEAST_WIDTH = 4

# Where a partial assignment stands: the position of the ordered list, the members of it that are taken, and the
# unordered expectations that are taken, both as bits.
_State = tuple[int, int, int]
# Pairs as a linked list, the newest first.
_Link: TypeAlias = "tuple[tuple[int, int], _Link | None]"
# Who may take a call: position (that of the unordered is beyond all), bit, the twin's bit, place.
_Taker = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Taken:
    """A partial assignment: its weight, the most that it can still become, and its pairs."""

    weight: int
    most: int
    pairs: _Link | None


@dataclass(frozen=True, slots=True)
class Search:
    """Partial assignments walked through call by call, those dropped that cannot become better than what is known.

    Where more than the search may keep remain, the most promising are kept, and the end proves nothing. `twins` has for
    each expected call the bit of the one before it that weighs the same everywhere: that one goes first.
    """

    weights: Mapping[int, Sequence[int]]
    bound: Bound
    twins: Mapping[int, int]

    @classmethod
    def of(cls, weights: Mapping[int, Sequence[int]], bound: Bound) -> Search:
        """Return the search with its bound."""
        return cls(weights, bound, _twins(weights, [*bound.positions, bound.unordered]))

    def better_than(self, floor: int) -> dict[int, int] | None:
        """Return an assignment of more than `floor`, by expected call; None where none was found.

        It is the best there is, and None says that there is none, unless states had to be dropped.
        """
        if self.bound.most <= floor:
            return None
        calls = len(self.bound.prices)
        states: dict[_State, _Taken] = {(0, 0, 0): _Taken(0, self.bound.most, None)}
        left = max(MAX_STEPS // 4, MAX_STEPS - STEPS_PER_CELL * calls * len(self.weights))
        for call in range(calls):
            takers = self._takers(call)
            width = max(LEAST_WIDTH, left // (calls - call) // (1 + len(takers)))
            if len(states) > width:
                promising = sorted(states.items(), key=lambda item: (-item[1].most, -item[1].weight))
                states = dict(promising[:width])
            left -= len(states) * (1 + len(takers))
            states = self._after(states, call, takers, floor)
            if not states:
                return None
        best = max(states.values(), key=lambda taken: taken.weight)
        return dict(_pairs(best.pairs)) if best.weight > floor else None

    def _after(
        self, states: Mapping[_State, _Taken], call: int, takers: Sequence[_Taker], floor: int
    ) -> dict[_State, _Taken]:
        """Return the states after a call."""
        rest = _Rest(self.bound, call + 1)
        following: dict[_State, _Taken] = {}
        for state, taken in states.items():
            beside = rest.unordered(state[2])
            for next_state, expected in self._steps(state, takers):
                weight = taken.weight if expected is None else taken.weight + self.weights[expected][call]
                known = following.get(next_state)
                if known is not None and weight <= known.weight:
                    continue
                lost = 0 if expected is None or next_state[2] == state[2] else self.bound.ahead[expected][call + 1]
                if (most := weight + rest.chain(next_state) + beside - lost) > floor:
                    pairs = taken.pairs if expected is None else ((expected, call), taken.pairs)
                    following[next_state] = _Taken(weight, most, pairs)
        return following

    def _takers(self, call: int) -> list[_Taker]:
        return [
            (position, 1 << place, self.twins[expected], expected)
            for position, members in enumerate([*self.bound.positions, self.bound.unordered])
            for place, expected in enumerate(members)
            if self.weights[expected][call]
        ]

    def _steps(self, state: _State, takers: Sequence[_Taker]) -> Iterator[tuple[_State, int | None]]:
        """Yield the states that a call can lead to, each with the expected call that it would serve."""
        here, members_taken, unordered_taken = state
        positions = self.bound.positions
        yield state, None
        for position, bit, twin, expected in takers:
            if position == len(positions):
                if not unordered_taken & bit and twin & unordered_taken == twin:
                    yield (here, members_taken, unordered_taken | bit), expected
            elif position >= here:
                taken = members_taken if position == here else 0
                if not taken & bit and twin & taken == twin:
                    taken |= bit
                    full = taken == (1 << len(positions[position])) - 1
                    yield (position + 1, 0, unordered_taken) if full else (position, taken, unordered_taken), expected


class _Rest:
    """The most that can still be gained from a call on, each part computed once."""

    def __init__(self, bound: Bound, call: int) -> None:
        self._bound = bound
        self._call = call
        self._chains: dict[tuple[int, int], int] = {}

    def chain(self, state: _State) -> int:
        """Return what the ordered list can still gain: by its slots, and by its members each for itself."""
        position, taken = state[:2]
        if (known := self._chains.get((position, taken))) is not None:
            return known
        chain, slots = self._bound.chain, self._bound.slots
        most = chain[slots[position] + taken.bit_count()][self._call]
        if position < len(self._bound.positions):
            after = chain[slots[position + 1]][self._call]
            most = min(most, after + self._untaken(self._bound.positions[position], taken))
        self._chains[position, taken] = most
        return most

    def unordered(self, taken: int) -> int:
        """Return what the unordered expectations can still gain, and the prices of the calls to come."""
        return self._untaken(self._bound.unordered, taken) + self._bound.costs[self._call]

    def _untaken(self, members: Sequence[int], taken: int) -> int:
        ahead, call = self._bound.ahead, self._call
        return sum([ahead[expected][call] for place, expected in enumerate(members) if not taken >> place & 1])


def _twins(weights: Mapping[int, Sequence[int]], sets: Sequence[Sequence[int]]) -> dict[int, int]:
    twins: dict[int, int] = {}
    for members in sets:
        last: dict[tuple[int, ...], int] = {}
        for place, expected in enumerate(members):
            row = tuple(weights[expected])
            twins[expected] = last.get(row, 0)
            last[row] = 1 << place
    return twins


def _pairs(link: _Link | None) -> Iterator[tuple[int, int]]:
    while link is not None:
        pair, link = link
        yield pair


Weights: TypeAlias = Sequence[Sequence[int]]
Places: TypeAlias = Sequence[int]
Assigned: TypeAlias = list[int | None]


def best_sequence(weights: Weights, positions: Sequence[Places], unordered: Places) -> Assigned:
    """Return each expected call's actual call in the assignment of the greatest total weight; None where it has none.

    `weights[expected][actual]` is at least 0, and 0 says that the two must not be put together. Expected calls of one
    position come before those of the next, in any order within; the `unordered` ones come anywhere. Each actual call
    serves one expected one.

    Proved best with fewer than two positions; where the best assignment without regard to order is in order anyway;
    where the bound is met; and where the search drops no hopeful state, as on all small
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
