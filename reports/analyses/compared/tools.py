"""Work out what changed for each class of the matrix: missed, called wrongly, precision, recall, F1."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from reports.analyses.compared.tallying import Tally
from toolevals.grading.metrics.comparison import ClassCounts, PairedClass, holm, mcnemar, paired_class
from toolevals.grading.values.verdicts import UNKNOWN_TOOL, UNPARSED

ALPHA = 0.05
Pairs = Counter[tuple[ClassCounts, ClassCounts]]
Amount = int | float


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The examples, before and after, that missed a class or called it wrongly (parts of one, with several trials).

    `fixed` and `broken` examples have fewer and more of them; `p_value` is that of the exact sign test on these, which
    is McNemar's with one trial an example, and `p_holm` is adjusted over both kinds of mistakes of every class.
    """

    before: Amount
    after: Amount
    fixed: int
    broken: int
    p_value: float
    p_holm: float


# Not slotted: the figures are kept once they are made.
@dataclass(frozen=True)
class ToolDelta:
    """One class: how many examples expect it (support) and call it (predicted), before and after, and its mistakes."""

    name: str
    support: tuple[Amount, Amount]
    predicted: tuple[Amount, Amount]
    missed: Mistakes
    wrong: Mistakes
    pairs: Pairs = field(repr=False)

    @cached_property
    def figures(self) -> PairedClass:
        """Precision, recall and F1 with the intervals of their differences."""
        return paired_class(self.pairs)

    @property
    def averaged(self) -> bool:
        """Return whether it can be expected: `(unknown tool)` and `(unparsed)` have no recall and no F1 of use."""
        return self.name not in (UNKNOWN_TOOL, UNPARSED)

    @property
    def moved(self) -> int:
        """Mistakes of examples that were fixed or broken."""
        return self.missed.fixed + self.missed.broken + self.wrong.fixed + self.wrong.broken

    @property
    def stands(self) -> bool:
        """Return whether a change stands on its own after the correction."""
        return min(self.missed.p_holm, self.wrong.p_holm) < ALPHA


def tool_deltas(tally: Tally) -> tuple[ToolDelta, ...]:
    """Return a row for each class, what moved most first."""
    found = [(name, pairs, _Figures.of(pairs)) for name, pairs in _class_pairs(tally).items()]
    tests = [mcnemar(broken, fixed) for _, _, figures in found for fixed, broken in figures.moved]
    adjusted = iter(zip(tests, holm(tests), strict=True))
    rows = [_row(name, pairs, figures, adjusted, tally) for name, pairs, figures in found]
    return tuple(sorted(rows, key=lambda row: (-row.moved, -row.support[0], row.name)))


def _row(
    name: str, pairs: Pairs, figures: _Figures, tests: Iterator[tuple[float, float | None]], tally: Tally
) -> ToolDelta:
    before, after = figures.before, figures.after

    def mistakes(kind: int) -> Mistakes:
        p_value, p_holm = next(tests)
        amounts = [tally.amount(side[1 + kind] - side[0]) for side in (before, after)]
        return Mistakes(amounts[0], amounts[1], *figures.moved[kind], p_value, 1.0 if p_holm is None else p_holm)

    return ToolDelta(
        name=name,
        support=(tally.amount(before[1]), tally.amount(after[1])),
        predicted=(tally.amount(before[2]), tally.amount(after[2])),
        missed=mistakes(0),
        wrong=mistakes(1),
        pairs=pairs,
    )


def _class_pairs(tally: Tally) -> dict[str, Pairs]:
    """Return how many examples have which counts of each class, before and after."""
    pairs: defaultdict[str, Pairs] = defaultdict(Counter)
    for (place, was, now), count in tally.classes.items():
        pairs[tally.cells.names[place]][was, now] = count
    return pairs


@dataclass(frozen=True, slots=True)
class _Figures:
    """The counts of a class: (correct, expected, called) in parts, before and after; mistakes, missed and wrong.

    `moved` are the examples with fewer, and with more, of each of them.
    """

    before: ClassCounts
    after: ClassCounts
    moved: tuple[tuple[int, int], tuple[int, int]]

    @classmethod
    def of(cls, pairs: Pairs) -> Self:
        """Return the figures of a class."""
        sums, moved = [0] * 6, [0] * 4
        for (was, now), count in pairs.items():
            for place in range(3):
                sums[place] += was[place] * count
                sums[3 + place] += now[place] * count
            right = now[0] - was[0]
            for kind in (0, 1):
                change = now[1 + kind] - was[1 + kind] - right
                if change:
                    moved[2 * kind + (change > 0)] += count
        return cls(
            (sums[0], sums[1], sums[2]), (sums[3], sums[4], sums[5]), ((moved[0], moved[1]), (moved[2], moved[3]))
        )
