"""Computes exactly with numbers as they are written."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite


def is_finite(number: float) -> bool:
    """Tell whether a number is neither NaN nor infinite; integers of any size are finite."""
    return not isinstance(number, float) or isfinite(number)


def decimal_value(number: float) -> Fraction:
    """Return a finite number exactly: a float as the shortest decimal that reads back as it, so that 0.1 is 1/10."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
