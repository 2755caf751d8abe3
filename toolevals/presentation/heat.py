"""Steps of the heat: which class of the stylesheet a matrix cell gets. Right cells are d1..d3, wrong ones e1..e5."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

# A wrong cell's share of its row: up to 4 %, 7 %, 12 %, 18 %, above.
WRONG_BOUNDS = (0.04, 0.07, 0.12, 0.18)
# A right cell's recall: below 80 %, below 90 %, from 90 %.
RIGHT_BOUNDS = (0.80, 0.90)
# Every step, palest first: a step's place in the heat map's colour scale.
STEPS = ("d1", "d2", "d3", "e1", "e2", "e3", "e4", "e5")


def heat_step(share: float, *, right: bool) -> str:
    """Return the step of a cell that holds this share (0..1) of its row, or of its column."""
    if right:
        return f"d{bisect_right(RIGHT_BOUNDS, share) + 1}"
    return f"e{bisect_left(WRONG_BOUNDS, share) + 1}"


# A change's share of its row: up to 4 %, 12 %, above.
CHANGE_BOUNDS = (0.04, 0.12)


def change_step(share: float, *, better: bool | None) -> str:
    """Return the step of a change of this share (0..1) of its row: g1..g3 as it should be, e2..e4 not, z without."""
    if better is None:
        return "z"
    step = bisect_left(CHANGE_BOUNDS, share) + 1
    return f"g{step}" if better else f"e{step + 1}"
