"""Works out percentiles of a list of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, isfinite


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
