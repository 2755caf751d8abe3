"""Write the tables of reliability that are downloaded: their columns (described in docs/tables.md) and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reports.analyses.compounding import Compounding
from reports.analyses.reliability import Reliability
from toolevals.grading.metrics.rates import Estimate
from toolevals.presentation.csv import Cell

RELIABILITY: Final = (
    "kind",
    "name",
    "k",
    "examples",
    "pass_at_k",
    "pass_at_k_low",
    "pass_at_k_high",
    "pass_hat_k",
    "pass_hat_k_low",
    "pass_hat_k_high",
)
VARIANCE: Final = ("examples", "between", "within", "consistency")
# Column of the file -> where it stands, from a count of trials.
TRIALS: Final = {
    "revision_id": "entry__revision_id",
    "external_id": "entry__revision__example__external_id",
    "tool": "tool",
    "bucket": "bucket",
    "difficulty": "difficulty",
    "passed": "passed",
    "failed": "failed",
    "unscored": "unscored",
    "errored": "errored",
}
STEPS: Final = (
    "steps",
    "passed",
    "cases",
    "rate",
    "rate_low",
    "rate_high",
    "predicted",
    "predicted_low",
    "predicted_high",
)


def reliability(analysis: Reliability | None) -> Iterator[tuple[Cell, ...]]:
    """Yield the run's curve, a row a k, then each tool and stratum at the chosen k."""
    for kind, name, point in analysis.rows if analysis else ():
        yield kind, name, point.k, point.examples, *_estimate(point.at), *_estimate(point.hat)


def variance(analysis: Reliability | None) -> Iterator[tuple[Cell, ...]]:
    """Yield one row, none where too few examples have two scored trials."""
    split = analysis.variance if analysis else None
    if split:
        yield split.count, split.between, split.within, split.consistency


def steps(compounding: Compounding | None) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each number of expected calls."""
    for row in compounding.chains if compounding else ():
        low, high = (
            (row.predicted_interval.low, row.predicted_interval.high) if row.predicted_interval else (None, None)
        )
        rate = row.cases
        yield row.steps, rate.passed, rate.total, rate.value, rate.low, rate.high, row.predicted, low, high


def _estimate(estimate: Estimate) -> tuple[Cell, ...]:
    interval = estimate.interval
    return estimate.value, interval.low if interval else None, interval.high if interval else None
