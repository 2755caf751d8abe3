"""Works out proportions and their intervals.

Defines a figure with what is known about it: how much was counted, how sure it is, or why there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
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
