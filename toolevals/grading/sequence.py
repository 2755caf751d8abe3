"""The best assignment of expected calls to actual ones where some are expected in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolevals.grading.alignment import best_assignment

# Partial assignments kept after each call. Of more the best are kept: still a good answer, no longer proved best.
MAX_STATES = 2_000

# Where an assignment stands: the position of the ordered list, which of its members are taken, and which of the
# unordered expectations.
_State = tuple[int, int, int]
# Pairs as a linked list, the newest first.
_Link: TypeAlias = "tuple[tuple[int, int], _Link | None]"


@dataclass(frozen=True, slots=True)
class _Taken:
    """A partial assignment."""

    weight: int
    pairs: _Link | None


def best_sequence(
    weights: Sequence[Sequence[int]], positions: Sequence[Sequence[int]], unordered: Sequence[int]
) -> list[int | None]:
    """Return each expected call's actual call in the assignment of the greatest total weight; None where it has none.

    `weights[expected][actual]` is at least 0, and 0 says that the two must not be put together. Expected calls of one
    position come before those of the next, in any order within; the `unordered` ones come anywhere. Each actual call
    serves one expected one. Exact while no more than MAX_STATES partial assignments have to be kept, which allows for
    some ten unordered or grouped calls that compete for the same actual ones; never worse than taking, for each
    expected call in turn, the first actual one that fits.
    """
    if len(positions) < 2:
        return best_assignment(weights)
    contested = _contested(weights, positions, unordered)
    assigned: list[int | None] = [None] * len(weights)
    for expected, actual in _walk(weights, positions, contested):
        assigned[expected] = actual
    free = [each for each in unordered if each not in set(contested)]
    for expected, actual_call in zip(free, best_assignment([weights[each] for each in free]), strict=True):
        assigned[expected] = actual_call
    greedy = _greedy(weights, positions, unordered)
    return max((assigned, greedy), key=lambda each: _weight(weights, each))


def _weight(weights: Sequence[Sequence[int]], assigned: Sequence[int | None]) -> int:
    return sum(weights[expected][actual] for expected, actual in enumerate(assigned) if actual is not None)


def _contested(
    weights: Sequence[Sequence[int]], positions: Sequence[Sequence[int]], unordered: Sequence[int]
) -> list[int]:
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


def _walk(
    weights: Sequence[Sequence[int]], positions: Sequence[Sequence[int]], unordered: Sequence[int]
) -> list[tuple[int, int]]:
    """Walk over the actual calls, keeping the best way to every state."""
    states: dict[_State, _Taken] = {(0, 0, 0): _Taken(0, None)}
    for actual in range(len(weights[0])):
        following = dict(states)
        for state, taken in states.items():
            for next_state, expected in _steps(state, actual, (weights, positions, unordered)):
                better = _Taken(taken.weight + weights[expected][actual], ((expected, actual), taken.pairs))
                known = following.get(next_state)
                if known is None or better.weight > known.weight:
                    following[next_state] = better
        if len(following) > MAX_STATES:
            following = dict(sorted(following.items(), key=lambda item: -item[1].weight)[:MAX_STATES])
        states = following
    return _unlinked(max(states.values(), key=lambda taken: taken.weight))


def _steps(
    state: _State,
    actual: int,
    problem: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]], Sequence[int]],
) -> list[tuple[_State, int]]:
    """Return the states that an actual call can lead to, each with the expected call that it would serve."""
    weights, positions, unordered = problem
    position, members_taken, unordered_taken = state
    steps: list[tuple[_State, int]] = []
    for later in range(position, len(positions)):
        taken = members_taken if later == position else 0
        steps.extend(
            ((later, taken | 1 << place, unordered_taken), expected)
            for place, expected in enumerate(positions[later])
            if weights[expected][actual] and not taken >> place & 1
        )
    steps.extend(
        ((position, members_taken, unordered_taken | 1 << place), expected)
        for place, expected in enumerate(unordered)
        if weights[expected][actual] and not unordered_taken >> place & 1
    )
    return steps


def _unlinked(taken: _Taken) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    link = taken.pairs
    while link is not None:
        pair, link = link
        pairs.append(pair)
    return pairs


def _greedy(
    weights: Sequence[Sequence[int]], positions: Sequence[Sequence[int]], unordered: Sequence[int]
) -> list[int | None]:
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
