"""Work out what changed in the outcome, the layers and the depths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from reports.compare.pairing import Paired, Verdicts
from reports.rates import ExampleSums
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES, clustered_interval
from toolevals.grading.metrics.comparison import (
    Comparison,
    Share,
    compare_counted,
    fewest_changed,
    holm,
    smallest_detectable,
    smallest_detectable_mean,
    smallest_significant,
)
from toolevals.grading.metrics.means import mean_interval
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values.verdict_table import VERDICT_NAMES

ALPHA = 0.05
# What the headline speaks of.
DECIDING = "outcome"


@dataclass(frozen=True, slots=True)
class LayerDelta:
    """One rate in both runs, over the examples that both scored.

    The sides' intervals are clustered by example. What decides is fixed before the runs and tested alone: its `p_holm`
    is its p-value. That of any other row is adjusted over all others that have a test. `errored` examples have an
    errored trial in either run: they are among those left out unless other trials were scored.
    """

    name: str
    compared: Comparison
    before_interval: Interval | None
    after_interval: Interval | None
    p_holm: float | None
    errored: int
    errored_before: int
    errored_after: int

    @property
    def same(self) -> int:
        """Examples that came out alike."""
        return self.compared.examples - self.compared.improved - self.compared.worsened

    @property
    def change(self) -> str:
        """Return whether it is "better" or "worse" and not by chance, the "same" in every example, or "unclear".

        Chance is told by `p_holm`; of too few examples everything is unclear.
        """
        found = self.compared
        if not found.improved and not found.worsened:
            return "same"
        if self.p_holm is None or self.p_holm >= ALPHA or not found.difference or not self.tells:
            return "unclear"
        return "better" if found.difference > 0 else "worse"

    @property
    def decides(self) -> bool:
        """Return whether it is the measure that decides."""
        return self.name == DECIDING

    @property
    def interval_agrees(self) -> bool:
        """Return whether the interval says the same as the test of the difference."""
        interval = self.compared.interval
        return interval is None or (not interval.low <= 0 <= interval.high) == (self.change in ("better", "worse"))

    @property
    def tells(self) -> bool:
        """Return whether the examples are enough to say that a change is no chance."""
        return self.compared.examples >= FEWEST_EXAMPLES

    @property
    def can_be_found(self) -> bool:
        """Return whether the test can find any change in so many examples at all."""
        return self.compared.examples >= fewest_changed(ALPHA)

    @property
    def significant(self) -> float | None:
        """The smallest difference that McNemar's test can find in so many examples; None if none, or of another test.

        Of several trials an example can change by any amount: there is no smallest difference.
        """
        return smallest_significant(self.compared.examples) if self.compared.test == "mcnemar" else None

    @property
    def detectable(self) -> float | None:
        """The smallest true difference that is found four times in five.

        With one trial an example it is given how many came out otherwise, else given the spread of their differences.
        """
        if self.compared.test != "mcnemar":
            return smallest_detectable_mean(self.compared.examples, self.compared.spread or 0.0)
        moved = self.compared.improved + self.compared.worsened
        return smallest_detectable(self.compared.examples, moved / self.compared.examples) if moved else None


def layer_deltas(facts: Sequence[tuple[Verdicts, Verdicts, int]]) -> tuple[LayerDelta, ...]:
    """Return a row for each verdict that both runs scored somewhere."""
    rows = [layer_delta(name, facts) for name in VERDICT_NAMES]
    scored = [row for row in rows if row.compared.examples]
    others = iter(holm([row.compared.p_value for row in scored if not row.decides]))
    return tuple(replace(row, p_holm=row.compared.p_value if row.decides else next(others)) for row in scored)


def layer_delta(name: str, facts: Sequence[tuple[Verdicts, Verdicts, int]]) -> LayerDelta:
    """Return the row of one verdict, its p-value not adjusted."""
    place = VERDICT_NAMES.index(name)
    pairs: Counter[tuple[Share, Share]] = Counter()
    errored = [0, 0, 0]
    for before, after, count in facts:
        pairs[before.shares[place], after.shares[place]] += count
        broke = bool(before.errored[place]), bool(after.errored[place])
        for number, counts in enumerate((any(broke), *broke)):
            errored[number] += count if counts else 0
    compared = compare_counted(pairs)
    sides: tuple[Counter[Share], Counter[Share]] = Counter(), Counter()
    for pair, count in pairs.items():
        if pair[0][1] and pair[1][1]:
            for side, share in zip(sides, pair, strict=True):
                side[share] += count
    return LayerDelta(name, compared, _interval(sides[0]), _interval(sides[1]), None, *errored)


def _interval(shares: Counter[Share]) -> Interval | None:
    if not shares:
        return None
    if len({scored for _, scored in shares}) == 1:
        return clustered_interval(
            ExampleSums.of({(scored, passed): count for (passed, scored), count in shares.items()})
        )
    means: Counter[float] = Counter()
    for share, count in shares.items():
        means[float(Fraction(*share))] += count
    return mean_interval(means)


@dataclass(frozen=True, slots=True)
class StratumDelta:
    """One value of a stratum, "" for the examples without one; `delta.p_holm` is adjusted over all of its values."""

    value: str
    delta: LayerDelta

    @property
    def stands(self) -> bool:
        """Return whether its change stands on its own after the correction."""
        return self.delta.p_holm is not None and self.delta.p_holm < ALPHA


def stratum_deltas(paired: Paired, values: Sequence[str], verdict: str) -> tuple[StratumDelta, ...]:
    """Return the change of a verdict's rate in each stratum by name; `values` are those of the compared examples."""
    facts = paired.verdicts
    counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for value, number in zip(values, facts.numbers, strict=True):
        counts[value][number] += 1
    rows = []
    for value in sorted(counts, key=lambda value: (not value, value)):
        pairs = ((*facts.places(number), count) for number, count in counts[value].items())
        delta = layer_delta(verdict, [(facts.before[one], facts.after[other], count) for one, other, count in pairs])
        rows.append(StratumDelta(value, delta))
    adjusted = holm([row.delta.compared.p_value for row in rows])
    return tuple(
        replace(row, delta=replace(row.delta, p_holm=p_value)) for row, p_value in zip(rows, adjusted, strict=True)
    )
