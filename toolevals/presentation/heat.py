"""Finds the step of a matrix cell's heat, a class of the stylesheet: right cells have d1..d3, wrong ones e1..e5."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

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


# A change's share of its row: up to 4 %, 12 %, above.
CHANGE_BOUNDS = (0.04, 0.12)


def change_step(share: float, *, better: bool | None) -> str:
    """Return the step of a change of this share (0..1) of its row: g1..g3 as it should be, e2..e4 not, z without."""
    if better is None:
        return "z"
    step = bisect_left(CHANGE_BOUNDS, share) + 1
    return f"g{step}" if better else f"e{step + 1}"
