"""Works out intervals of figures that have no formula for theirs, by resampling the examples.

Percentile bootstrap (B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979). An
example is resampled with all its trials, since trials of one example are not independent (the cluster bootstrap: A. C.
Davison and D. V. Hinkley, "Bootstrap Methods and their Application", 1997, 3.8). Draws are seeded, so the same
counts give the same interval everywhere. An interval is widened where it would not hold the estimate itself. Of few
examples it is too narrow: what decides has an interval by formula (`clustered`, `means`).
"""

from __future__ import annotations

from collections.abc import Iterable

from toolevals.grading.metrics.percentiles import percentile_of_sorted
from toolevals.grading.metrics.rates import Interval, normal_quantile


def bootstrap_interval(draws: Iterable[float | None], value: float, confidence: float = 0.95) -> Interval | None:
    """Return the percentile interval of a figure's draws, one a resample; None where none has the figure.

    Raises ValueError unless 0 < confidence < 1.
    """
    normal_quantile(confidence)
    ordered = sorted([draw for draw in draws if draw is not None])
    tail = (1 - confidence) / 2
    low, high = percentile_of_sorted(ordered, tail), percentile_of_sorted(ordered, 1 - tail)
    if low is None or high is None:
        return None
    return Interval(min(low, value), max(high, value))
