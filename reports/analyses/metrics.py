"""Work out what the metrics of a grading came to: means of their values, next to the rates of the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.analyses.rates import Rate
from toolevals.grading.engine.case_metrics import METRICS


@dataclass(frozen=True, slots=True)
class MetricTotals:
    """The counts of one metric in one grading; `mean` is over `examples`, None where nothing was scored."""

    passed: int
    failed: int
    unscored: int
    errored: int
    mean: float | None
    low: float | None
    high: float | None
    examples: int


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric in one grading. The value of `rate` is the mean of the cases' values; it counts those that pass."""

    name: str
    version: str
    totals: MetricTotals

    @property
    def rate(self) -> Rate:
        """The mean with its interval, and how many of the scored cases passed."""
        found = self.totals
        return Rate(found.passed, found.passed + found.failed, found.mean, found.low, found.high, found.examples)

    @property
    def failed(self) -> int:
        return self.totals.failed

    @property
    def unscored(self) -> int:
        return self.totals.unscored

    @property
    def errored(self) -> int:
        return self.totals.errored

    @property
    def examples(self) -> int:
        """Return how many examples have a scored trial."""
        return self.totals.examples

    @property
    def goal(self) -> float:
        """The value from which a case passes."""
        metric = METRICS.get(self.name)
        return metric.passes_at if metric else 1.0

    @property
    def sentence(self) -> str:
        """Return what it measures; what it needs, where no case has that."""
        metric = METRICS.get(self.name)
        if metric is None:
            return ""
        return metric.sentence if self.rate.total or not metric.needs else f"{metric.sentence} {metric.needs}"


def metric_rows(graders: Iterable[Mapping[str, Any]], counts: Mapping[str, MetricTotals]) -> Sequence[MetricRow]:
    """Return a row for each metric that was counted, in the order of the grading's graders."""
    return tuple(
        MetricRow(grader["name"], str(grader["version"]), counts[grader["name"]])
        for grader in graders
        if grader["name"] in counts
    )
