"""A proportion with its count and its interval: no rate is shown without them."""

from __future__ import annotations

from dataclasses import dataclass

from toolevals.grading.metrics.rates import wilson

# The share of each layer and depth that a release should reach; the gate's defaults.
GOALS = {
    "outcome": 0.95,
    "selection": 0.95,
    "arguments": 0.93,
    "result_use": 0.95,
    "recovery": 0.95,
    "answer": 0.95,
    "schema": 0.97,
    "shape": 0.97,
    "equivalence": 0.93,
    "execution": 0.95,
}
TOOL_GOAL = 0.95


@dataclass(frozen=True, slots=True)
class Rate:
    """`passed` of `total`, with the 95 % Wilson interval; all None where there is nothing to count."""

    passed: int
    total: int
    value: float | None
    low: float | None
    high: float | None


def rate(passed: int, total: int) -> Rate:
    """Return the rate of `passed` among `total`."""
    if not total:
        return Rate(passed, total, None, None, None)
    interval = wilson(passed, total)
    return Rate(passed, total, passed / total, interval.low, interval.high)
