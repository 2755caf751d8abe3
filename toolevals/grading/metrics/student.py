"""Works out quantiles of Student's t, in place of the normal's where few examples estimate a spread."""

from __future__ import annotations

from functools import lru_cache
from math import atan2, cos, fsum, pi, sin, sqrt, tan

from toolevals.grading.metrics.rates import normal_quantile

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
