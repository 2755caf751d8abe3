"""Work out what changed in one rate, stratum by stratum."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.analyses.compared.layers import ALPHA, LayerDelta, layer_delta
from reports.analyses.compared.pairing import Paired
from toolevals.grading.metrics.comparison import holm


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
