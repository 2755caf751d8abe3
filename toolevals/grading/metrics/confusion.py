"""Counts the confusion matrix of expected and actual classes, and works out the figures read from it.

Names the classes of a confusion matrix that stand for several tools: a namespace together, and the set of a case.

Orders classes so that those that are confused with each other stand together.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Final, Self

from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

# Stands where less than half of an example's trials agree.
NO_MAJORITY: Final = "(no majority)"
# They are no tools; where classes are ordered they come last, in this order.
SPECIAL: Final = (NONE, UNKNOWN_TOOL, UNPARSED, NO_MAJORITY)
EVERY: Final = "*"

# What stands between a server or namespace and its tool, the first that occurs: `github__search`, `orders/get`,
# `shop::get`, `shop:get`, `math.sqrt`; then a service and its number, `Trains_1_GetTickets`. The last of one kind
# divides: `mcp__github__search` is of `mcp__github__`.
_SEPARATORS: Final = ("__", "/", "::", ":", ".")
_NUMBERED: Final = re.compile(r"[A-Za-z][A-Za-z]*_[0-9]+_(?=.)")
_JOIN: Final = " + "


def namespace_of(name: str) -> str:
    """Return a tool's server or namespace with what divides it from the tool, "" where the name has none.

    Names with a comma have none: a list of namespaces is written with commas.
    """
    if name in SPECIAL or "," in name:
        return ""
    for separator in _SEPARATORS:
        before, found, after = name.rpartition(separator)
        if found and before and after:
            return before + found
    numbered = _NUMBERED.match(name)
    return numbered.group() if numbered else ""


def namespaces(names: Iterable[str]) -> dict[str, int]:
    """Return the namespaces that at least two of `names` share, by name, with how many do."""
    counts = Counter(filter(None, (namespace_of(name) for name in names)))
    return {name: count for name, count in sorted(counts.items()) if count > 1}


def collapsed_class(name: str, collapsed: Collection[str]) -> str:
    """Return the class that stands for `name` where namespaces are `collapsed` ("*": all): `math.*` for `math.sqrt`.

    A set of tools becomes the set of their classes.
    """
    if not collapsed or name in SPECIAL:
        return name
    return set_class(_collapsed(tool, collapsed) for tool in tools_of_class(name))


def set_class(tools: Iterable[str]) -> str:
    """Return the class of a case by all its tools, each once, in order of name: `get + pay`; `(none)` without any.

    Two sets never have one class: what joins the names is escaped in them.
    """
    names = sorted(set(tools) - {NONE})
    if len(names) < 2:
        return names[0] if names else NONE
    return _JOIN.join(name.replace("\\", "\\\\").replace("+", r"\+") for name in names)


def tools_of_class(name: str) -> tuple[str, ...]:
    """Return the tools that a class of `set_class` is made of; a class without a join is one tool."""
    parts = name.split(_JOIN)
    if len(parts) < 2:
        return (name,)
    return tuple(re.sub(r"\\(.)", r"\1", part) for part in parts)


def _collapsed(name: str, collapsed: Collection[str]) -> str:
    namespace = namespace_of(name)
    return f"{namespace}*" if namespace and (EVERY in collapsed or namespace in collapsed) else name


# Nothing is ever expected to be one of these; averages leave them out unless something was.
_NEVER_EXPECTED = (UNKNOWN_TOOL, UNPARSED)
_LAST = (NONE, UNKNOWN_TOOL, UNPARSED)


@dataclass(frozen=True, slots=True)
class ClassMetrics:
    """One class: how often expected (support), called (predicted) and both (correct), and the rates of these.

    precision = correct/predicted, recall = correct/support, F1 = 2·correct/(support + predicted), which is their
    harmonic mean. A rate whose denominator is nought is None.
    """

    name: str
    support: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float | None:
        return self.correct / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        return self.correct / self.support if self.support else None

    @property
    def f1(self) -> float | None:
        either = self.support + self.predicted
        return 2 * self.correct / either if either else None


class ConfusionMatrix:
    """Counts of cases by (expected class, actual class)."""

    counts: Mapping[tuple[str, str], int]

    def __init__(self, counts: Mapping[tuple[str, str], int]) -> None:
        if any(count < 0 for count in counts.values()):
            raise ValueError("a count is negative")
        self.counts = {cell: count for cell, count in counts.items() if count}

    @classmethod
    def of_cases(cls, cases: Iterable[tuple[str, str]]) -> Self:
        """Return the matrix of single cases."""
        return cls(Counter(cases))

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Every class that occurs: tools by name, then `(none)`, `(unknown tool)`, `(unparsed)`."""
        names = {name for cell in self.counts for name in cell}
        return (*sorted(names.difference(_LAST)), *(name for name in _LAST if name in names))

    @cached_property
    def total(self) -> int:
        """Return how many cases."""
        return sum(self.counts.values())

    @property
    def accuracy(self) -> float | None:
        """The share on the diagonal; None without cases."""
        correct = sum(count for (expected, actual), count in self.counts.items() if expected == actual)
        return correct / self.total if self.total else None

    @cached_property
    def per_class(self) -> list[ClassMetrics]:
        """The figures of every class, in the order of `classes`."""
        support, predicted = dict.fromkeys(self.classes, 0), dict.fromkeys(self.classes, 0)
        for (expected, actual), count in self.counts.items():
            support[expected] += count
            predicted[actual] += count
        return [
            ClassMetrics(name, support[name], predicted[name], self.counts.get((name, name), 0))
            for name in self.classes
        ]

    @property
    def macro_f1(self) -> float | None:
        """The mean F1 of the averaged classes, each counting the same; None without classes.

        Averaged are the tools and `(none)` that were expected or called; `(unknown tool)` and `(unparsed)` only where
        they were expected, which is never in a matrix made by this package.
        """
        return self._macro([metrics.f1 for metrics in self.averaged])

    @property
    def micro_f1(self) -> float | None:
        """F1 of the averaged classes' counts taken together; None without classes."""
        either = sum(metrics.support + metrics.predicted for metrics in self.averaged)
        return 2 * sum(metrics.correct for metrics in self.averaged) / either if either else None

    @property
    def averaged(self) -> list[ClassMetrics]:
        """The classes that count in the averages."""
        return [metrics for metrics in self.per_class if metrics.support or metrics.name not in _NEVER_EXPECTED]

    @staticmethod
    def _macro(rates: list[float | None]) -> float | None:
        return sum(rate or 0.0 for rate in rates) / len(rates) if rates else None


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
