"""The best assignment of expected calls to actual ones where some are expected in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolevals.grading.alignment import best_assignment

# How many partial assignments are kept after each call: at first, to find a good answer, and then, to find the best.
FIRST_STATES = 16
MAX_STATES = 500

Weights: TypeAlias = Sequence[Sequence[int]]
Places: TypeAlias = Sequence[int]

# Where a partial assignment stands: the position of the ordered list, the members of it that are taken, and the
# unordered expectations that are taken, both as bits.
_State = tuple[int, int, int]
# Pairs as a linked list, the newest first.
_Link: TypeAlias = "tuple[tuple[int, int], _Link | None]"


def best_sequence(weights: Weights, positions: Sequence[Places], unordered: Places) -> list[int | None]:
    """Return each expected call's actual call in the assignment of the greatest total weight; None where it has none.

    `weights[expected][actual]` is at least 0, and 0 says that the two must not be put together. Expected calls of one
    position come before those of the next, in any order within; the `unordered` ones come anywhere. Each actual call
    serves one expected one. Never worse than taking, for each expected call in turn, the first actual one that fits;
    and proved best while no more than MAX_STATES partial assignments at a time could still lead to a better one.
    """
    if len(positions) < 2:
        return best_assignment(weights)
    contested = _contested(weights, positions, unordered)
    walk = _Walk(weights, positions, contested)
    best = _greedy(weights, positions, contested)
    for width in (FIRST_STATES, MAX_STATES):
        if _total(weights, best) == walk.most:
            break
        best = walk.better_than(_total(weights, best), width) or best
    free = [each for each in unordered if each not in set(contested)]
    for expected, actual in zip(free, best_assignment([weights[each] for each in free]), strict=True):
        best[expected] = actual
    return best


def _total(weights: Weights, assigned: Sequence[int | None]) -> int:
    return sum(weights[expected][actual] for expected, actual in enumerate(assigned) if actual is not None)


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
class _Taken:
    """A partial assignment, and the most that it can still become."""

    weight: int
    most: int
    pairs: _Link | None


class _Walk:
    """A walk over the actual calls that keeps the best way to each state while it can still be the best of all."""

    def __init__(self, weights: Weights, positions: Sequence[Places], unordered: Places) -> None:
        self._weights = weights
        self._positions = positions
        self._unordered = unordered
        # What each expected call can at most weigh from an actual one on.
        self._ahead = [_from_here_on(row) for row in weights]
        self.most = self._hope((0, 0, 0), 0)

    def better_than(self, floor: int, width: int) -> list[int | None] | None:
        """Return an assignment of more than `floor`, keeping `width` states at a time; None where none is found."""
        states: dict[_State, _Taken] = {(0, 0, 0): _Taken(0, self.most, None)}
        for actual in range(len(self._weights[0])):
            states = self._after(states, actual, floor, width)
        best = max(states.values(), key=lambda taken: taken.weight, default=None)
        if best is None or best.weight <= floor:
            return None
        assigned: list[int | None] = [None] * len(self._weights)
        link = best.pairs
        while link is not None:
            (expected, actual_call), link = link
            assigned[expected] = actual_call
        return assigned

    def _after(self, states: dict[_State, _Taken], actual: int, floor: int, width: int) -> dict[_State, _Taken]:
        following: dict[_State, _Taken] = {}
        for state, taken in states.items():
            for next_state, expected in self._steps(state, actual):
                weight, pairs = taken.weight, taken.pairs
                if expected is not None:
                    weight, pairs = weight + self._weights[expected][actual], ((expected, actual), pairs)
                known = following.get(next_state)
                if known is None or weight > known.weight:
                    most = weight + self._hope(next_state, actual + 1)
                    if most > floor:
                        following[next_state] = _Taken(weight, most, pairs)
        if len(following) <= width:
            return following
        return dict(sorted(following.items(), key=lambda item: (-item[1].most, -item[1].weight))[:width])

    def _steps(self, state: _State, actual: int) -> Iterator[tuple[_State, int | None]]:
        """Yield the states that an actual call can lead to, each with the expected call that it would serve."""
        position, members_taken, unordered_taken = state
        yield state, None
        for later in range(position, len(self._positions)):
            taken = members_taken if later == position else 0
            for place, expected in enumerate(self._positions[later]):
                if self._weights[expected][actual] and not taken >> place & 1:
                    yield (later, taken | 1 << place, unordered_taken), expected
        for place, expected in enumerate(self._unordered):
            if self._weights[expected][actual] and not unordered_taken >> place & 1:
                yield (position, members_taken, unordered_taken | 1 << place), expected

    def _hope(self, state: _State, actual: int) -> int:
        """Return a bound on what can still be gained: each expected call at its best, whoever else wants the same."""
        position, members_taken, unordered_taken = state
        hope = sum(
            self._ahead[expected][actual]
            for place, expected in enumerate(self._unordered)
            if not unordered_taken >> place & 1
        )
        for later in range(position, len(self._positions)):
            taken = members_taken if later == position else 0
            hope += sum(
                self._ahead[expected][actual]
                for place, expected in enumerate(self._positions[later])
                if not taken >> place & 1
            )
        return hope


def _from_here_on(row: Sequence[int]) -> list[int]:
    most = [0] * (len(row) + 1)
    for place in range(len(row) - 1, -1, -1):
        most[place] = max(row[place], most[place + 1])
    return most


def _greedy(weights: Weights, positions: Sequence[Places], unordered: Places) -> list[int | None]:
    assigned: list[int | None] = [None] * len(weights)
    used: set[int] = set()
    start = 0
    for members in [*positions, unordered]:
        first = 0 if members is unordered else start
        for expected in members:
            fits = (
                actual
                for actual in range(first, len(weights[expected]))
                if weights[expected][actual] and actual not in used
            )
            if (actual_call := next(fits, None)) is not None:
                assigned[expected] = actual_call
                used.add(actual_call)
                start = max(start, actual_call + 1)
    return assigned
