"""Numbers that follow from numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

# The first numbers of a reply that make sums of neighbours.
MAX_RUN = 100
_PERCENT = 100.0


def is_run_sum(value: float, said: Sequence[float]) -> bool:
    """Whether the number is, to the hundredth, the sum of two or more numbers that follow one another."""
    wanted = round(value * 100)
    # Where each running total first stood; two places back at least, so that one number is no sum.
    places = {0: 0}
    total = 0.0
    for place, number in enumerate(said[:MAX_RUN], 1):
        total += number
        start = places.get(round(total * 100) - wanted)
        if start is not None and place - start > 1:
            return True
        places.setdefault(round(total * 100), place)
    return False


def from_two(value: float, tolerance: float, operands: Sequence[float], *, is_share: bool) -> str:
    """Return the rule by which a number follows from two others: sum, difference, product, ratio, share, change."""
    margin = tolerance + abs(value) * 1e-9
    for one in operands:
        for rule, wanted, slack in (
            ("sum", value - one, margin),
            ("difference", one - value, margin),
            ("product", value / one, margin / abs(one)),
            ("product", value * _PERCENT / one, margin * _PERCENT / abs(one)),
            ("ratio", value * one, min(margin * abs(one), 0.02 * abs(value * one))),
        ):
            if _holds(operands, wanted, slack):
                return rule
        for rule, wanted, slack in (
            ("ratio", value * one / _PERCENT, margin * abs(one) / _PERCENT),
            ("ratio", one * (1 + value / _PERCENT), margin * abs(one) / _PERCENT),
            ("ratio", one * (1 - value / _PERCENT), margin * abs(one) / _PERCENT),
        ):
            if is_share and _holds(operands, wanted, slack):
                return rule
        for wanted in ((value / one - 1) * _PERCENT, (1 - value / one) * _PERCENT):
            if _holds(operands, wanted, margin * _PERCENT / abs(one)):
                return "product"
    return ""


def _holds(operands: Sequence[float], wanted: float, slack: float) -> bool:
    place = bisect_left(operands, wanted - slack)
    return place < len(operands) and operands[place] <= wanted + slack
