"""Numbers as people read them: percentages with one decimal, counts in thousands, intervals as "81.6 to 87.8"."""

from __future__ import annotations

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


def count(number: int) -> str:
    """Return a count with its thousands apart: "1,234"."""
    return f"{number:,}"
