"""Pairs measurements of two versions: how much each figure changed, and if it is more than the noise of the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import Any, Literal

from toolevals.grading.metrics.student import student_quantile

# The share of comparisons of equal versions in which any figure is called slower or faster.
FALSE_ALARMS = 0.05
# What is exact has no noise: a figure that changed by less than this is the same.
LEAST = 1.01
FEWEST_PAIRS = 3
Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Change:
    """The factor by which a figure became more costly, from `low` to `high`; above 1 is slower.

    The interval holds for all figures of a comparison together.
    """

    name: str
    ratio: float
    low: float
    high: float
    pairs: int

    @property
    def verdict(self) -> Literal["slower", "faster", "not told from noise"]:
        """The direction in which the whole interval lies."""
        if self.low > 1 and self.ratio >= LEAST:
            return "slower"
        return "faster" if self.high < 1 and self.ratio <= 1 / LEAST else "not told from noise"

    def document(self) -> dict[str, Any]:
        """Return the change as it is printed."""
        return asdict(self) | {"verdict": self.verdict}

    def line(self) -> str:
        """Return the change for a terminal."""
        return f"{self.verdict:<20} {self.ratio:6.3f} ({self.low:.3f} to {self.high:.3f})  {self.name}"


@dataclass(frozen=True, slots=True)
class Figure:
    """The values of one row in each pair, as (before, now)."""

    name: str
    better: Better
    values: Sequence[tuple[float, float]]

    @property
    def problem(self) -> str | None:
        """Return why its change cannot be stated, or None."""
        if len(self.values) < FEWEST_PAIRS:
            return f"measured in {len(self.values)} pairs, and {FEWEST_PAIRS} are needed"
        return "a value is not above zero" if any(min(pair) <= 0 for pair in self.values) else None


def changes(figures: Sequence[Figure]) -> list[Change]:
    """Return the changes of the figures that have no problem, the costliest first.

    Each is the mean of the pairs' log ratios, with Student's interval over pairs at a confidence of
    1 - FALSE_ALARMS / figures (Bonferroni), so that all intervals hold together.
    """
    told = [figure for figure in figures if figure.problem is None]
    confidence = 1 - FALSE_ALARMS / max(1, len(told))
    return sorted((_change(figure, confidence) for figure in told), key=lambda change: -change.ratio)


def _change(figure: Figure, confidence: float) -> Change:
    sign = 1 if figure.better == "lower" else -1
    logs = [sign * log(now / before) for before, now in figure.values]
    mean = fmean(logs)
    half = student_quantile(len(logs) - 1, confidence) * stdev(logs) / sqrt(len(logs))
    return Change(figure.name, exp(mean), exp(mean - half), exp(mean + half), len(logs))


def figures_of(
    pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], better: Mapping[str, Better]
) -> list[Figure]:
    """Return a figure for each name that both sides of some pair hold, in the order of `better`.

    A pair is what each side measured: name -> value.
    """
    found = []
    for name, direction in better.items():
        values = [(before[name], now[name]) for before, now in pairs if name in before and name in now]
        if values:
            found.append(Figure(name, direction, values))
    return found
