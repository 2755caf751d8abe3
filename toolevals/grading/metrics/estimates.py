"""Defines a figure with what is known about it: how much was counted, how sure it is, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from toolevals.grading.metrics.rates import Interval


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
