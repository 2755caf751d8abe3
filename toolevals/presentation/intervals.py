"""Places an interval as a mark on a track: the SVG's places and widths, in percent of the track."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor as round_down


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """The positions of the span and of the ticks at estimate and goal. `low`: the whole span lies below the goal."""

    x: str
    width: str
    dot: str
    goal: str
    low: bool


def interval_mark(value: float, low: float, high: float, *, goal: float, start: float = 0.0) -> IntervalMark:
    """Return the mark of an interval of shares on a track that runs from `start` to 1."""
    left, right = _place(low, start), _place(high, start)
    return IntervalMark(
        x=_percent(left),
        width=_percent(right - left),
        dot=_percent(_place(value, start)),
        goal=_percent(_place(goal, start)),
        low=high < goal,
    )


def track_start(lows: list[float]) -> float:
    """Return where the tracks of one table begin, so that every interval in it fits: a tenth, at most 0.6."""
    return min(0.6, round_down(10 * min(lows, default=0.6)) / 10)


def _place(share: float, start: float) -> float:
    return min(1.0, max(0.0, (share - start) / (1.0 - start)))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
