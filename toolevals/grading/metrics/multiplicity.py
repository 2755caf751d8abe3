"""Adjusts the p-values of many tests at once, so that chance findings stay rare.

Compare an adjusted p-value with alpha as if it were the only one. A test without a p-value (None) is not counted and
stays None. Raises ValueError on a p-value outside 0..1.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values adjusted so that the chance of any false finding is at most alpha.

    In order of size p(1) <= ... <= p(m), the i-th becomes max over j <= i of min(1, (m - j + 1)·p(j)). Source: S. Holm,
    "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
    """
    order = _ordered(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p_value, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_value))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values adjusted so that the expected share of false findings among all findings is at most alpha.

    In order of size, the i-th becomes min over j >= i of min(1, m·p(j)/j). Source: Y. Benjamini and Y. Hochberg,
    "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57 (1995).
    """
    order = _ordered(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 1.0
    for rank, (p_value, place) in reversed(list(enumerate(order, start=1))):
        smallest = min(smallest, len(order) * p_value / rank)
        adjusted[place] = smallest
    return adjusted


def _ordered(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    known = [(p_value, place) for place, p_value in enumerate(p_values) if p_value is not None]
    if any(not 0 <= p_value <= 1 for p_value, _ in known):
        raise ValueError("a p-value is between 0 and 1")
    return sorted(known)
