"""Holds the colours of charts, per theme, and the steps of heat. A test keeps both equal to `static/css/app.css`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import ceil
from typing import Final

# The theme's name -> the token's name -> its colour.
PALETTES: Final[dict[str, dict[str, str]]] = {
    "light": {
        "surface": "#ffffff",
        "sunken": "#eef0f2",
        "empty": "#f7f8f9",
        "line": "#e1e5e9",
        "ink": "#17202a",
        "ink-2": "#435060",
        "ink-3": "#5c6876",
        "diag-1": "#eef6f8",
        "diag-2": "#dcedf2",
        "diag-3": "#c6e1e9",
        "heat-1": "#fdf0e8",
        "heat-2": "#fbd9c2",
        "heat-3": "#f6b58a",
        "heat-4": "#e98849",
        "heat-5": "#ad3a02",
        "layer-selection": "#4648bc",
        "layer-arguments": "#84712b",
    },
    "dark": {
        "surface": "#151a20",
        "sunken": "#1d232b",
        "empty": "#191e25",
        "line": "#29313a",
        "ink": "#e5eaef",
        "ink-2": "#b6bfc9",
        "ink-3": "#95a1ae",
        "diag-1": "#15242b",
        "diag-2": "#172e37",
        "diag-3": "#1b3a46",
        "heat-1": "#241d1a",
        "heat-2": "#3d261a",
        "heat-3": "#6a371a",
        "heat-4": "#a5521e",
        "heat-5": "#ff9c66",
        "layer-selection": "#928efe",
        "layer-arguments": "#d9b02a",
    },
}


# A wrong cell's share of its row, weighed: up to 5 %, 20 %, 50 %, 80 %, above.
WRONG_BOUNDS = (0.05, 0.20, 0.50, 0.80)
# So many cases that are not wrong are added to the row of a wrong cell, so that few cases make no dark cell. It is the
# square of the normal quantile of 95 %, rounded: by so many Wilson's interval moves a share, too.
ADDED = 4
# A right cell's recall: below 80 %, below 90 %, from 90 %.
RIGHT_BOUNDS = (0.80, 0.90)
# Every step, palest first: a step's place in the heat map's colour scale.
STEPS = ("d1", "d2", "d3", "e1", "e2", "e3", "e4", "e5")
# Where nothing is wrong.
ALL_RIGHT = "d3"


def heat_step(part: int, whole: int, *, right: bool) -> str:
    """Return the step of a cell that holds `part` of the `whole` cases of its row, or of its column.

    A right cell's is that of its share. A wrong cell's is that of part / (whole + ADDED), which is nearly its share in
    a row of many cases and less in a row of few.
    """
    if right:
        return f"d{bisect_right(RIGHT_BOUNDS, part / whole) + 1}"
    return f"e{bisect_left(WRONG_BOUNDS, part / (whole + ADDED)) + 1}"


# The darkest step of a count begins at the largest count, and not below this: few cases make no dark cell.
LEAST_DARKEST = 16


def count_bounds(largest: int) -> tuple[int, ...]:
    """Return the least count of each step but the first, evenly spaced on a scale of logarithms up to `largest`."""
    darkest = max(largest, LEAST_DARKEST)
    steps = len(WRONG_BOUNDS)
    return tuple(ceil(darkest ** (step / steps) - 1e-9) for step in range(1, steps + 1))


def count_step(count: int, bounds: Sequence[int]) -> str:
    """Return the step of a wrong cell that holds so many cases, by the bounds of `count_bounds`."""
    return f"e{bisect_right(bounds, count) + 1}"


# A change's share of its row: up to 4 %, 12 %, above.
CHANGE_BOUNDS = (0.04, 0.12)


def change_step(share: float, *, better: bool | None) -> str:
    """Return the step of a change of this share (0..1) of its row: g1..g3 as it should be, e2..e4 not, z without."""
    if better is None:
        return "z"
    step = bisect_left(CHANGE_BOUNDS, share) + 1
    return f"g{step}" if better else f"e{step + 1}"
