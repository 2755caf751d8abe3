"""Tests whether two rates of different examples differ, where trials of one example are alike."""

from __future__ import annotations

from math import erfc, sqrt

from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES, ExampleSums
from toolevals.grading.metrics.student import student_tail

# From here on Student's distribution is the normal for what is tested.
_NORMAL_FROM = 1_000


def rates_differ(before: ExampleSums, after: ExampleSums) -> float | None:
    """Return the two-sided p-value of two rates being one, None where either has too few examples to tell.

    The score test of two proportions with Yates' correction, on effective numbers of trials: trials over their design
    effect (J. N. K. Rao and A. J. Scott, "A simple method for the analysis of clustered binary data", Biometrics 48,
    1992). What is left of z is compared with Student's t, whose degrees are those of both samples.
    """
    if min(before.examples, after.examples) < FEWEST_EXAMPLES or min(before.degrees, after.degrees) < 1:
        return None
    one, two = (each.trials / _effect(each) for each in (before, after))
    first, second = before.passed / before.trials, after.passed / after.trials
    pooled = (first * one + second * two) / (one + two)
    spread = pooled * (1 - pooled) * (1 / one + 1 / two)
    apart = abs(first - second) - (1 / one + 1 / two) / 2
    if spread <= 0 or apart <= 0:
        return 1.0
    z, degrees = apart / sqrt(spread), before.degrees + after.degrees
    return erfc(z / sqrt(2)) if degrees >= _NORMAL_FROM else student_tail(degrees, z)


def _effect(sums: ExampleSums) -> float:
    """Return the design effect; where all came out alike, trials of one example are taken as alike."""
    return sums.design_effect if 0 < sums.passed < sums.trials else max(1.0, sums.most_inflated)
