"""Intervals of figures that are no proportions, by resampling the examples.

Percentile bootstrap (B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979). An
example is resampled with all its trials, since trials of one example are not independent (the cluster bootstrap: A. C.
Davison and D. V. Hinkley, "Bootstrap Methods and their Application", 1997, 3.8). Draws are seeded, so the same
counts give the same interval everywhere. An interval is widened where it would not hold the estimate itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import isfinite
from statistics import fmean
from typing import Any

from toolevals.grading.metrics.estimates import Estimate
from toolevals.grading.metrics.percentiles import percentile_of_sorted
from toolevals.grading.metrics.rates import Interval, normal_quantile
from toolevals.grading.metrics.resampling import RESAMPLES, Resamples

# Values are counted in steps of this share of their range: 2^30 a unit leaves room for 2^34 units in 64 bits.
_STEPS = 1 << 30
_MOST_VALUES = 4096


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


@lru_cache(maxsize=4096)
def f1_interval(
    correct: int, support: int, predicted: int, total: int, *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Interval | None:
    """Return the interval of one class's F1 over `total` cases, one trial each.

    `correct` cases are expected and called, `support` expected, `predicted` called. F1 = 2c/(2c + e), where e cases are
    only expected or only called; a resample draws both. None where F1 is undefined. Raises ValueError on counts that
    contradict each other. For the classes of one matrix together, `matrix_intervals` is faster.
    """
    only_one = support + predicted - 2 * correct
    if not 0 <= correct <= min(support, predicted) or total < correct + only_one:
        raise ValueError("the counts contradict each other")
    if not support + predicted:
        return None
    series = Resamples(resamples)
    drawn = zip(series.unpack(series.weights(correct)), series.unpack(series.weights(only_one)), strict=True)
    draws = (2 * both / (2 * both + either) if both or either else None for both, either in drawn)
    return bootstrap_interval(draws, 2 * correct / (support + predicted), confidence)


def mean_interval(
    values: Mapping[float, int], *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Interval | None:
    """Return the interval of the mean of units, given as value -> how many units have it.

    None with fewer than two units. Beyond 4,096 distinct values they are rounded to as many steps of their range,
    with the mean held. Raises ValueError on a value that is not finite or a negative count.
    """
    units = sum(values.values())
    if any(not isfinite(value) for value in values) or any(count < 0 for count in values.values()):
        raise ValueError("a value is not finite or a count is negative")
    # In order, so that the same counts give the same interval to the last digit.
    present = {value: count for value, count in sorted(values.items()) if count}
    normal_quantile(confidence)
    if units < 2:
        return None
    lowest, highest = min(present), max(present)
    mean = sum(value * count for value, count in present.items()) / units
    span = highest - lowest
    if span == 0:
        return Interval(lowest, lowest)
    # Values that differ by a hair may share a place.
    shares: Counter[float] = Counter()
    for value, count in present.items():
        shares[(value - lowest) / span] += count
    steps = _rounded(shares)
    shift = (mean - lowest) / span - sum(step * count for step, count in steps.items()) / units
    series = Resamples(resamples)
    weight_sum = value_sum = 0
    for step, count in sorted(steps.items(), key=lambda item: (item[1], item[0])):
        weights = series.weights(count)
        weight_sum += weights
        value_sum += weights * round(step * _STEPS)
    drawn = zip(series.unpack(value_sum), series.unpack(weight_sum), strict=True)
    ratios = sorted([total / weight for total, weight in drawn if weight])
    draws = [lowest + span * (ratio / _STEPS + shift) for ratio in ratios]
    return bootstrap_interval(draws, mean, confidence)


def clustered_mean(
    outcomes: Mapping[Any, Sequence[float | None]], *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Estimate:
    """Return the mean over examples of each example's mean over its scored trials, by example -> outcomes.

    Outcomes are scores or booleans (1 and 0); None and NaN are unscored. Examples without a scored trial are left
    out, and `count` says how many remain. The interval resamples examples with all their trials.
    """
    return counted_mean(Counter(map(tuple, outcomes.values())), confidence=confidence, resamples=resamples)


def counted_mean(
    outcomes: Mapping[tuple[float | None, ...], int], *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Estimate:
    """Return `clustered_mean` from the outcomes of an example's trials -> how many examples have these."""
    means: Counter[float] = Counter()
    for trials, count in outcomes.items():
        if count and (mean := scored_mean(trials)) is not None:
            means[mean] += count
    if not means:
        return Estimate.undefined("nothing was scored")
    value = fmean(means.elements())
    return Estimate(value, mean_interval(means, confidence=confidence, resamples=resamples), means.total())


def scored_mean(trials: Iterable[float | None]) -> float | None:
    """Return the mean of the scored trials of one example; None where none is."""
    return _mean_of(tuple(trials))


# Most examples are like many others.
@lru_cache(maxsize=4096)
def _mean_of(trials: tuple[float | None, ...]) -> float | None:
    scored = [float(outcome) for outcome in trials if outcome is not None and isfinite(outcome)]
    return fmean(scored) if scored else None


def _rounded(shares: Mapping[float, int]) -> Mapping[float, int]:
    if len(shares) <= _MOST_VALUES:
        return shares
    steps: Counter[float] = Counter()
    for share, count in shares.items():
        steps[round(share * _MOST_VALUES) / _MOST_VALUES] += count
    return steps
