"""An interval as a mark on a track: the places and widths that the SVG's attributes need, in percent of the track."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor as round_down


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """Where the span and the ticks at the estimate and at the goal stand. `low`: the whole span lies below the goal."""

    x: str
    width: str
    dot: str
    goal: str
    low: bool


def interval_mark(value: float, low: float, high: float, *, goal: float, floor: float = 0.0) -> IntervalMark:
    """Return the mark of an interval of shares on a track that runs from `floor` to 1."""
    left, right = _place(low, floor), _place(high, floor)
    return IntervalMark(
        x=_percent(left),
        width=_percent(right - left),
        dot=_percent(_place(value, floor)),
        goal=_percent(_place(goal, floor)),
        low=high < goal,
    )


def track_floor(lows: list[float]) -> float:
    """Return where the tracks of one table begin, so that every interval in it fits: a tenth, at most 0.6."""
    return min(0.6, round_down(10 * min(lows, default=0.6)) / 10)


def _place(share: float, floor: float) -> float:
    return min(1.0, max(0.0, (share - floor) / (1.0 - floor)))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
