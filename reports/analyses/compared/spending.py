"""Work out what changed in what conversations take, on the examples that both runs hold: money, tokens and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from reports.analyses.compared.layers import ALPHA
from reports.analyses.compared.metrics import Values
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.comparison import Comparison, compare_alike, holm
from toolevals.grading.metrics.rates import Interval

# What a conversation takes, and its unit.
UNITS: Final[Mapping[str, str]] = {"cost": "money", "tokens": "tokens", "latency": "ms"}


@dataclass(frozen=True, slots=True)
class SpendingDelta:
    """The mean of what a conversation takes in both runs, over the examples of which both say it, compared in pairs.

    `p_holm` is adjusted over all that is compared.
    """

    name: str
    compared: Comparison
    p_holm: float | None = None

    @property
    def unit(self) -> str:
        return UNITS[self.name]

    @property
    def stands(self) -> bool:
        """Return whether the change stands after the correction, in examples enough to tell."""
        return self.p_holm is not None and self.p_holm < ALPHA and self.compared.examples >= FEWEST_EXAMPLES


def spending_deltas(values: Mapping[str, Mapping[tuple[Values, Values], int]]) -> tuple[SpendingDelta, ...]:
    """Return a row for each of UNITS that both runs say of an example.

    `values` are, by what is taken, (amounts before, amounts after) -> how many examples have these.
    """
    rows = [SpendingDelta(name, compare_amounts(values[name])) for name in UNITS if name in values]
    known = [row for row in rows if row.compared.examples]
    adjusted = holm([row.compared.p_value for row in known])
    return tuple(replace(row, p_holm=p_value) for row, p_value in zip(known, adjusted, strict=True))


def compare_amounts(alike: Mapping[tuple[Values, Values], int]) -> Comparison:
    """Return the comparison of amounts, which have no upper end.

    They are compared as parts of the largest difference of an example, so that differences are in -1..1, and where no
    example differs as parts of the largest amount.
    """
    means = [(fmean(known[0]), fmean(known[1])) for pair in alike if all(known := [_known(side) for side in pair])]
    unit = max((abs(after - before) for before, after in means), default=0.0)
    unit = unit or max((before for before, _ in means), default=0.0) or 1.0
    scaled: Counter[tuple[Values, Values]] = Counter()
    for (before, after), count in alike.items():
        scaled[_parts(before, unit), _parts(after, unit)] += count
    found = compare_alike(scaled)
    if found.before is None or found.after is None or found.difference is None:
        return found
    interval = found.interval
    return replace(
        found,
        before=found.before * unit,
        after=found.after * unit,
        difference=found.difference * unit,
        interval=None if interval is None else Interval(interval.low * unit, interval.high * unit),
        spread=None if found.spread is None else found.spread * unit,
    )


def _known(amounts: Values) -> list[float]:
    return [amount for amount in amounts if amount is not None]


def _parts(amounts: Values, unit: float) -> Values:
    return tuple(None if amount is None else amount / unit for amount in amounts)
