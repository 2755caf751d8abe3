"""Searches for a better assignment in order, call by call, bounded in length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolevals.grading.alignment.ordered_bound import Bound

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
