"""Draw the labels that came in: bars by day, the sum over them, and the forecast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from labeling.label.throughput import Throughput

WIDTH: Final = 340.0
FOOT: Final = 118.0
HEAD: Final = 6.0
# The days that came take this share of the width; the rest is what comes.
NOW: Final = 0.84
TALLEST_BAR: Final = 36.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One day, as attributes of two rectangles of the same width: everyone's labels, one's own."""

    x: str
    width: str
    y: str
    height: str
    own_y: str
    own_height: str


@dataclass(frozen=True, slots=True)
class BurnUp:
    """The bars, the line of the sum, the point of today, and the line to the day when all are in (empty: unknown)."""

    bars: tuple[Bar, ...]
    line: str
    now_x: str
    now_y: str
    projection: str


def burn_up(throughput: Throughput) -> BurnUp:
    """Return the picture of a dataset's labels, in units of an SVG of 340 x 124."""
    step = WIDTH * NOW / len(throughput.days)
    most = max(1, *(max(day.labels, day.own) for day in throughput.days))
    whole = max(1, throughput.wanted)

    def height(labels: int) -> float:
        return TALLEST_BAR * labels / most

    def y(done: int) -> float:
        return FOOT - (FOOT - HEAD) * min(1.0, done / whole)

    bars = tuple(
        Bar(
            f"{place * step + 1.5:.1f}",
            f"{step - 3:.1f}",
            f"{FOOT - height(day.labels):.1f}",
            f"{height(day.labels):.1f}",
            f"{FOOT - height(day.own):.1f}",
            f"{height(day.own):.1f}",
        )
        for place, day in enumerate(throughput.days)
        if day.labels or day.own
    )
    done = throughput.done - sum(day.labels for day in throughput.days)
    points = [f"0.0,{y(done):.1f}"]
    for place, day in enumerate(throughput.days, start=1):
        done += day.labels
        points.append(f"{place * step:.1f},{y(done):.1f}")
    now_x, now_y = points[-1].split(",")
    projection = f"M{now_x} {now_y}L{WIDTH:g} {HEAD:g}" if throughput.forecast else ""
    return BurnUp(bars, " ".join(points), now_x, now_y, projection)
