"""Work out what changed for each class of the matrix: missed, called wrongly, precision, recall, F1."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reports.analyses.compared.tallying import Tally
from toolevals.grading.metrics.comparison import mcnemar
from toolevals.grading.metrics.multiplicity import holm
from toolevals.grading.metrics.paired_classes import ClassCounts, PairedClass, paired_class
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
    pairs = _class_pairs(tally)
    moves = [(_moved(each, 1), _moved(each, 2)) for each in pairs.values()]
    tests = [mcnemar(broken, fixed) for kinds in moves for fixed, broken in kinds]
    adjusted = iter(zip(tests, holm(tests), strict=True))
    rows = [_row(name, each, kinds, adjusted, tally) for (name, each), kinds in zip(pairs.items(), moves, strict=True)]
    return tuple(sorted(rows, key=lambda row: (-row.moved, -row.support[0], row.name)))


def _row(
    name: str,
    pairs: Pairs,
    kinds: Sequence[tuple[int, int]],
    tests: Iterator[tuple[float, float | None]],
    tally: Tally,
) -> ToolDelta:
    correct, support, predicted = (_sums(pairs, place) for place in range(3))

    def mistakes(sums: tuple[int, int], moved: tuple[int, int]) -> Mistakes:
        before, after = (tally.amount(each - right) for each, right in zip(sums, correct, strict=True))
        p_value, p_holm = next(tests)
        return Mistakes(before, after, *moved, p_value, 1.0 if p_holm is None else p_holm)

    return ToolDelta(
        name=name,
        support=(tally.amount(support[0]), tally.amount(support[1])),
        predicted=(tally.amount(predicted[0]), tally.amount(predicted[1])),
        missed=mistakes(support, kinds[0]),
        wrong=mistakes(predicted, kinds[1]),
        pairs=pairs,
    )


def _class_pairs(tally: Tally) -> dict[str, Pairs]:
    """Return how many examples have which counts of each class, before and after."""
    pairs: defaultdict[str, Pairs] = defaultdict(Counter)
    for (place, was, now), count in tally.classes.items():
        pairs[tally.cells.names[place]][was, now] = count
    return pairs


def _sums(pairs: Pairs, place: int) -> tuple[int, int]:
    before = sum(pair[0][place] * count for pair, count in pairs.items())
    return before, sum(pair[1][place] * count for pair, count in pairs.items())


def _moved(pairs: Pairs, place: int) -> tuple[int, int]:
    """Return how many examples have fewer, and more, of what is expected (1) or called (2) and not correct."""
    changes = [(now[place] - now[0] - was[place] + was[0], count) for (was, now), count in pairs.items()]
    return sum(count for change, count in changes if change < 0), sum(count for change, count in changes if change > 0)
