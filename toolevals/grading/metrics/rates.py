"""Works out proportions and their intervals.

Defines a figure with what is known about it: how much was counted, how sure it is, or why there is none.

Works out quantiles of Student's t, in place of the normal's where few examples estimate a spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import atan2, cos, fsum, pi, sin, sqrt, tan
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval. Of a proportion both ends are in 0..1, of an agreement or a difference in -1..1."""

    low: float
    high: float


def wilson(passed: float, total: float, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval of a proportion; the numbers may be effective ones, so also fractions.

    With p = passed/total and z the normal quantile of the confidence, the ends are
    (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n). Source: E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", JASA 22 (1927). With nothing counted it is 0..1: nothing is known.
    Raises ValueError unless 0 <= passed <= total and 0 < confidence < 1.
    """
    if not 0 <= passed <= total:
        raise ValueError(f"{passed} of {total} is not a proportion")
    z = normal_quantile(confidence)
    if total == 0:
        return Interval(0.0, 1.0)
    share, square = passed / total, z * z / total
    middle = (share + square / 2) / (1 + square)
    half = z * sqrt(share * (1 - share) / total + square / (4 * total)) / (1 + square)
    # At the ends the formula gives 0 and 1 exactly; floats may miss them by a hair.
    low = 0.0 if passed == 0 else middle - half
    high = 1.0 if passed == total else middle + half
    return Interval(low, high)


@lru_cache(maxsize=32)
def normal_quantile(confidence: float) -> float:
    """Return the z that the standard normal stays within (either sign) with probability `confidence`: 1.96 for .95.

    Raises ValueError unless 0 < confidence < 1.
    """
    if not 0 < confidence < 1:
        raise ValueError("confidence is between 0 and 1, both excluded")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, its confidence interval and how many units it was made from.

    `value` is None where the figure is undefined, and then `reason` says why in one sentence. `interval` is None where
    there is no value, and where the units are too few to resample (fewer than two).
    """

    value: float | None
    interval: Interval | None
    count: int
    reason: str = ""

    @classmethod
    def undefined(cls, reason: str, count: int = 0) -> Estimate:
        """Return the estimate of what cannot be estimated."""
        return cls(None, None, count, reason)


# From here on the expansion is exact to one part in 10^6, for a confidence of up to .999.
_EXPANDED_FROM = 50


@lru_cache(maxsize=65_536)
def student_quantile(degrees: int, confidence: float = 0.95) -> float:
    """Return the t that Student's distribution stays within (either sign) with probability `confidence`.

    12.71 for .95 and one degree of freedom, 1.96 for very many. Below 50 degrees the closed form of the distribution
    (M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 1964, 26.7.3 and 26.7.4) is inverted by
    bisection; beyond, the expansion about the normal quantile (26.7.5) is used. Raises ValueError unless degrees >= 1
    and 0 < confidence < 1.
    """
    if degrees < 1:
        raise ValueError("there is at least one degree of freedom")
    z = normal_quantile(confidence)
    if degrees >= _EXPANDED_FROM:
        return _expanded(z, degrees)
    low, high = 0.0, pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < confidence else (low, middle)
    return tan(low) * sqrt(degrees)


def student_tail(degrees: int, t: float) -> float:
    """Return the probability that Student's t is beyond `t` on either side. Raises ValueError unless degrees >= 1."""
    if degrees < 1:
        raise ValueError("there is at least one degree of freedom")
    return min(1.0, max(0.0, 1 - _within(atan2(abs(t), sqrt(degrees)), degrees)))


def _within(angle: float, degrees: int) -> float:
    """Return the probability that |t| stays within sqrt(degrees)·tan(angle)."""
    square, sine = cos(angle) ** 2, sin(angle)
    odd = degrees % 2
    terms = []
    term = cos(angle) if odd else 1.0
    for number in range(2 if odd else 1, degrees, 2):
        terms.append(term)
        term *= square * number / (number + 1)
    whole = sine * fsum(terms)
    return 2 / pi * (atan2(sine, cos(angle)) + whole) if odd else whole


def _expanded(z: float, n: int) -> float:
    square = z * z
    first = z * (square + 1) / 4
    second = z * ((5 * square + 16) * square + 3) / 96
    third = z * (((3 * square + 19) * square + 17) * square - 15) / 384
    fourth = z * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92_160
    return z + first / n + second / n**2 + third / n**3 + fourth / n**4
