"""Bounds what an assignment in order can weigh, by prices of the calls (Lagrangian relaxation).

That each call serves one expectation is given up and paid for instead: whatever the prices, no assignment weighs more
than all of them together, and the best chain and the best call of each unordered expectation, less the prices of their
calls (M. Held and R. M. Karp, 1971). The lower the bound, the better the prices: one that is wanted twice rises, one
that no one wants falls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

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
