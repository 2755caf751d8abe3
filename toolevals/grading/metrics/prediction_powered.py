"""Corrects a mean over many judged cases by the few that people labelled too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite, sqrt
from statistics import fmean, pvariance, variance

from toolevals.grading.metrics.estimates import Estimate
from toolevals.grading.metrics.rates import Interval, normal_quantile


def prediction_powered_mean(
    labelled: Iterable[tuple[float | None, float | None]],
    judged: Iterable[float | None],
    *,
    tuned: bool = False,
    confidence: float = 0.95,
) -> Estimate:
    """Return the mean human score of the judged cases, with the judge's bias measured and taken away.

    `labelled` are (judge's score, human score) pairs, `judged` the judge's scores of the other cases, all drawn from
    one population; booleans are 1 and 0, what is None or not finite is left out. With f the judge's and y the human
    scores, n pairs and N judged cases: θ = mean(λf over N) + mean(y - λf over n), interval θ ± z·√(var(λf over N)/N +
    var(y - λf over n)/n), with λ = 1. Source: A. N. Angelopoulos et al., "Prediction-powered inference", Science 382
    (2023), for the mean. `tuned` chooses λ = cov(y, f)/((1 + n/N)·var(f)), over all n + N scores of the judge and held
    in 0..1, which is never worse than the labels alone in large samples: A. N. Angelopoulos, J. C. Duchi and T. Zrnic,
    "PPI++" (2023). Variances divide by the count, that of λ by the count less one. The value is not held in the scores'
    range; `count` is n. Undefined with fewer than two pairs or two judged cases. Raises ValueError unless 0 <
    confidence < 1.
    """
    z = normal_quantile(confidence)
    pairs = [(float(f), float(y)) for f, y in labelled if _known(f) and _known(y)]  # type: ignore[arg-type]
    others = [float(f) for f in judged if _known(f)]  # type: ignore[arg-type]
    if len(pairs) < 2 or len(others) < 2:
        return Estimate.undefined("at least two labelled and two judged cases are needed", len(pairs))
    weight = _tuning(pairs, others) if tuned else 1.0
    rest = [y - weight * f for f, y in pairs]
    value = weight * fmean(others) + fmean(rest)
    half = z * sqrt(weight**2 * pvariance(others) / len(others) + pvariance(rest) / len(rest))
    return Estimate(value, Interval(value - half, value + half), len(pairs))


def _tuning(pairs: Sequence[tuple[float, float]], others: Sequence[float]) -> float:
    judge, human = fmean(f for f, _ in pairs), fmean(y for _, y in pairs)
    together = fmean((f - judge) * (y - human) for f, y in pairs)
    spread = variance([*(f for f, _ in pairs), *others])
    if spread == 0:
        return 0.0
    return min(1.0, max(0.0, together / ((1 + len(pairs) / len(others)) * spread)))


def _known(value: float | None) -> bool:
    return value is not None and isfinite(value)
