"""Work out what changed in the metrics of whole cases, on the examples that both runs hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reports.analyses.compared.layers import ALPHA
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.comparison import Comparison, compare_alike, holm

# A metric's value in each trial of an example; None where it is not scored.
Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class MetricDelta:
    """The mean of a metric in both runs, over the examples that both scored, compared in pairs.

    `versions` are those of the metric in the two gradings. `p_holm` is adjusted over all metrics.
    """

    name: str
    versions: tuple[str, str]
    compared: Comparison
    p_holm: float | None = None

    @property
    def version_before(self) -> str:
        return self.versions[0]

    @property
    def version_after(self) -> str:
        return self.versions[1]

    @property
    def stands(self) -> bool:
        """Return whether the change stands after the correction, in examples enough to tell."""
        return self.p_holm is not None and self.p_holm < ALPHA and self.compared.examples >= FEWEST_EXAMPLES

    @property
    def caution(self) -> str:
        """Return why a change may be the metric's own; empty where the same version measured both."""
        before, after = self.versions
        return "" if before == after else f"version {before}, then {after}: the change may be the metric’s"

    @property
    def sentence(self) -> str:
        """Return what it measures."""
        metric = METRICS.get(self.name)
        return metric.sentence if metric else ""


def metric_deltas(
    versions: Mapping[str, tuple[str, str]], values: Mapping[str, Mapping[tuple[Values, Values], int]]
) -> tuple[MetricDelta, ...]:
    """Return a row for each metric that both runs scored in an example, in the order of `versions`.

    `values` are, by metric, (values before, values after) -> how many examples have these.
    """
    rows = [MetricDelta(name, versions[name], compare_alike(values[name])) for name in versions]
    scored = [row for row in rows if row.compared.examples]
    adjusted = holm([row.compared.p_value for row in scored])
    return tuple(replace(row, p_holm=p_value) for row, p_value in zip(scored, adjusted, strict=True))
