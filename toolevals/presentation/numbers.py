"""Writes numbers as people read them: percent with one decimal, thousands, intervals as "81.6 to 87.8"."""

from __future__ import annotations

from math import floor, log10

ABSENT = "–"


def percent(share: float | None) -> str:
    """Return a share of 0..1 as "85.0"; what is undefined is a dash."""
    return ABSENT if share is None else f"{100 * share:.1f}"


def whole_percent(share: float | None) -> str:
    """Return a share of 0..1 as "85", for places where there is no room for more."""
    return ABSENT if share is None else f"{100 * share:.0f}"


def span(low: float | None, high: float | None) -> str:
    """Return an interval of shares as "81.6 to 87.8"."""
    return ABSENT if low is None or high is None else f"{percent(low)} to {percent(high)}"


def amount(value: float | None) -> str:
    """Return a sum short enough for a cell: "0.012", "3.5", "128", "12.3k", "4.1M"; what is not known is a dash."""
    if value is None:
        return ABSENT
    for size, mark in ((1_000_000, "M"), (10_000, "k")):
        if abs(value) >= size:
            return f"{value / (size if mark == 'M' else 1000):.1f}{mark}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def amount_change(value: float | None) -> str:
    """Return a change of a sum, always with its sign: "+0.012", "−12.3k", "0"."""
    if not value:
        return ABSENT if value is None else "0"
    return ("+" if value > 0 else "−") + amount(abs(value))


def count(number: int) -> str:
    """Return a count with its thousands apart: "1,234"."""
    return f"{number:,}"


def points(share: float | None) -> str:
    """Return a difference of shares in points, always with its sign: "+5.3", "−0.4", "0.0"."""
    return ABSENT if share is None else signed(100 * share, 1)


def signed_span(low: float | None, high: float | None) -> str:
    """Return an interval of differences in points: "+2.9 to +7.7"."""
    return ABSENT if low is None or high is None else f"{points(low)} to {points(high)}"


def signed(number: float, digits: int = 0) -> str:
    """Return a number with its sign, a real minus, and at most so many digits; nothing has none."""
    text = f"{abs(number):,.{digits}f}"
    if not float(text.replace(",", "")):
        return text
    return f"{'+' if number > 0 else '−'}{text}"


def part_count(number: float) -> str:
    """Return a number of examples, or of parts of them: "12", "0.4"."""
    return count(int(number)) if number == int(number) else f"{number:,.1f}"


def signed_amount(number: float) -> str:
    """Return a change of a number of examples: "+3", "−0.4"."""
    return signed(number, 0 if number == int(number) else 1)


def p_value(value: float | None) -> str:
    """Return a p-value with as many digits as tell something: "0.26", "0.021", "0.00003", "1", "< 0.000001"."""
    if value is None:
        return ABSENT
    if value >= 0.995:
        return "1"
    if value < 1e-6:
        return "< 0.000001"
    digits = 2 if value >= 0.1 else 1 - floor(log10(value)) if value >= 0.001 else -floor(log10(value))
    return f"{value:.{digits}f}"
