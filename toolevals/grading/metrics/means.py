"""Works out means over examples and differences between runs, with intervals that are honest for few examples.

What is averaged is an example's mean over its trials, since trials of one example are not independent. Such means have
a range: scores lie in 0..1, differences of scores in -1..1. Examples at both ends of the range are added before the
mean and its standard error are taken, so that no interval has zero width: of 29 examples without any difference no one
knows that there is none.

Works out percentiles of a list of numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import floor, fsum, isfinite, sqrt
from statistics import fmean
from typing import Any

from toolevals.grading.metrics.rates import Estimate, Interval, normal_quantile, student_quantile


def mean_interval(values: Mapping[float, int], *, confidence: float = 0.95) -> Interval | None:
    """Return the interval of the mean of examples' scores, 0..1, given as value -> how many examples have it.

    t²/2 examples are added at either end, t being Student's quantile of one degree of freedom less than examples: of
    scores 0 and 1 that is Agresti and Coull's interval (see `clustered_interval`). A value beyond 0..1 widens the
    range. None with fewer than two examples. Raises ValueError on a value that is not finite or a negative count.
    """
    return _interval(values, (0.0, 1.0), None, confidence)


def difference_interval(values: Mapping[float, int], *, confidence: float = 0.95) -> Interval | None:
    """Return the interval of the mean of paired differences, -1..1, given as value -> how many examples have it.

    An example is added at -d and one at d, as A. Agresti and B. Caffo add one pass and one failure to each of two
    samples ("Simple and effective confidence intervals for proportions and differences of proportions", The American
    Statistician 54, 2000); in all else as `mean_interval`. d is 1 between single trials, and where no example differs.
    Trials and scores differ by less: then d is the geometric mean of 1 and the root mean square of the differences that
    are not 0. It was chosen by simulation: d = 1 is too wide, the root mean square alone misses rare large differences.
    """
    squares = [(value * value, count) for value, count in values.items() if value and count]
    differing = sum(count for _, count in squares)
    # Fourth root: of the mean square, and then of the product with 1.
    size = (fsum(square * count for square, count in squares) / differing) ** 0.25 if differing else 1.0
    return _interval(values, (-1.0, 1.0), 1.0, confidence, at=(-size, size))


def clustered_mean(outcomes: Mapping[Any, Sequence[float | None]], *, confidence: float = 0.95) -> Estimate:
    """Return the mean over examples of each example's mean over its scored trials, by example -> outcomes.

    Outcomes are scores or booleans (1 and 0); None and NaN are unscored. Examples without a scored trial are left
    out, and `count` says how many remain.
    """
    return counted_mean(Counter(map(tuple, outcomes.values())), confidence=confidence)


def counted_mean(outcomes: Mapping[tuple[float | None, ...], int], *, confidence: float = 0.95) -> Estimate:
    """Return `clustered_mean` from the outcomes of an example's trials -> how many examples have these."""
    means: Counter[float] = Counter()
    for trials, count in outcomes.items():
        if count and (mean := scored_mean(trials)) is not None:
            means[mean] += count
    if not means:
        return Estimate.undefined("nothing was scored")
    value = fmean(means.elements())
    return Estimate(value, mean_interval(means, confidence=confidence), means.total())


def scored_mean(trials: Iterable[float | None]) -> float | None:
    """Return the mean of the scored trials of one example; None where none is."""
    return _mean_of(tuple(trials))


# Most examples are like many others.
@lru_cache(maxsize=4096)
def _mean_of(trials: tuple[float | None, ...]) -> float | None:
    scored = [float(outcome) for outcome in trials if outcome is not None and isfinite(outcome)]
    return fmean(scored) if scored else None


def _interval(
    values: Mapping[float, int],
    ends: tuple[float, float],
    added: float | None,
    confidence: float,
    *,
    at: tuple[float, float] | None = None,
) -> Interval | None:
    """Return the interval of a mean with so many examples added at two places; t²/2 at the ends where not said."""
    if any(not isfinite(value) for value in values) or any(count < 0 for count in values.values()):
        raise ValueError("a value is not finite or a count is negative")
    normal_quantile(confidence)
    units = sum(values.values())
    if units < 2:
        return None
    present = [(value, count) for value, count in values.items() if count]
    least, greatest = min(ends[0], *(value for value, _ in present)), max(ends[1], *(value for value, _ in present))
    t = student_quantile(units - 1, confidence)
    more = t * t / 2 if added is None else added
    low, high = at or (least, greatest)
    rows = [*present, (low, more), (high, more)]
    whole = units + 2 * more
    middle = fsum(value * count for value, count in rows) / whole
    spread = fsum((value - middle) ** 2 * count for value, count in rows) / whole
    half = t * sqrt(spread / whole)
    mean = fsum(value * count for value, count in present) / units
    return Interval(min(mean, max(least, middle - half)), max(mean, min(greatest, middle + half)))


def percentile(values: Iterable[float | None], share: float) -> float | None:
    """Return the value that `share` (0..1) of the numbers do not exceed; None without numbers.

    Linear interpolation between the two nearest: with the n numbers in order from x[0], it stands at place
    h = (n - 1)·share and is x[⌊h⌋] + (h - ⌊h⌋)·(x[⌊h⌋ + 1] - x[⌊h⌋]). This is type 7 of R. J. Hyndman and Y. Fan,
    "Sample quantiles in statistical packages", The American Statistician 50 (1996), the default of numpy and R.
    None and numbers that are not finite are left out. Raises ValueError unless 0 <= share <= 1.
    """
    return percentile_of_sorted(_finite(values), share)


def percentile_of_sorted(ordered: Sequence[float], share: float) -> float | None:
    """Return `percentile` of numbers that are finite and in order already."""
    if not 0 <= share <= 1:
        raise ValueError("the share of a percentile is between 0 and 1")
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _finite(values: Iterable[float | None]) -> list[float]:
    return sorted(value for value in values if value is not None and isfinite(value))
