"""Orders classes so that those that are confused with each other stand together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

Pair = tuple[int, int]


def confusable_order(names: Sequence[str], counts: Mapping[tuple[str, str], int]) -> list[str]:
    """Return `names` so that confusable groups stand together; `counts` is by (expected, actual).

    How alike two classes are is the share of their confusions in both: (n_ab + n_ba) / (N_a + N_b), N_a being all the
    cases that expect or get a. Groups are made by average linkage (Sokal and Michener, 1958): the two groups with the
    highest mean likeness over all pairs of members are joined, until no two groups share a confusion. Where two are
    joined, of the four ways to put them side by side the one is taken whose touching ends are most alike. Groups stand
    by their confusions, most first; what is never confused comes last. Ties fall by place in `names`, so that the order
    is the same everywhere. Time O(c log c) for c confused pairs, times the depth of the joins.
    """
    likeness, errors = _likeness(names, counts)
    chains = _joined(len(names), likeness)
    chains.sort(key=lambda chain: (-sum(errors[place] for place in chain), min(chain)))
    return [names[place] for chain in chains for place in chain]


def _likeness(names: Sequence[str], counts: Mapping[tuple[str, str], int]) -> tuple[dict[Pair, float], dict[int, int]]:
    """Return how alike each confused pair is, by places, and how many confusions each class has."""
    places = {name: place for place, name in enumerate(names)}
    size: defaultdict[int, int] = defaultdict(int)
    shared: defaultdict[Pair, int] = defaultdict(int)
    errors: defaultdict[int, int] = defaultdict(int)
    for (expected, actual), count in counts.items():
        held = [places[name] for name in (expected, actual) if name in places]
        for place in held:
            size[place] += count
            errors[place] += count if expected != actual else 0
        if expected != actual and len(held) == 2 and count:
            shared[min(held), max(held)] += count
    return {pair: count / (size[pair[0]] + size[pair[1]]) for pair, count in shared.items()}, errors


def _joined(size: int, likeness: Mapping[Pair, float]) -> list[list[int]]:
    """Return the chains that average linkage leaves. A chain goes by its number; a joined one gets a new number."""
    chains = {place: [place] for place in range(size)}
    sums: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for (one, other), value in likeness.items():
        sums[one][other] = sums[other][one] = value
    heap = [(-value, *pair, *pair) for pair, value in likeness.items()]
    heapify(heap)
    new = size
    while heap:
        *_, one, other = heappop(heap)
        if one not in chains or other not in chains:
            continue
        joined = _side_by_side(chains.pop(one), chains.pop(other), likeness)
        chains[new] = joined
        near: defaultdict[int, float] = defaultdict(float)
        for old in (one, other):
            for neighbour, value in sums.pop(old).items():
                if neighbour in chains:
                    near[neighbour] += value
                    del sums[neighbour][old]
        for neighbour, value in near.items():
            sums[new][neighbour] = sums[neighbour][new] = value
            mean = value / (len(joined) * len(chains[neighbour]))
            first, second = sorted((min(joined), min(chains[neighbour])))
            heappush(heap, (-mean, first, second, neighbour, new))
        new += 1
    return list(chains.values())


def _side_by_side(one: list[int], other: list[int], likeness: Mapping[Pair, float]) -> list[int]:
    if min(other) < min(one):
        one, other = other, one
    ways = ((one, other), (one, other[::-1]), (one[::-1], other), (one[::-1], other[::-1]))
    left, right = max(ways, key=lambda way: _between(way[0][-1], way[1][0], likeness))
    return left + right


def _between(one: int, other: int, likeness: Mapping[Pair, float]) -> float:
    return likeness.get((min(one, other), max(one, other)), 0.0)
