"""Squares of a small picture are drawn as a path for each look, and each stands where it belongs."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from toolevals.presentation.sparks import Squares, squares

SQUARE = re.compile(r"M([-\d.]+) ([-\d.]+)h([-\d.]+)v([-\d.]+)h([-\d.]+)z")
QUARTERS = st.integers(-2_000, 2_000).map(lambda number: number / 4)


def test_a_path_for_each_look_in_the_order_of_the_first():
    assert squares([("e1", 0, 0.5), ("z", 18, 0.5), ("e1", 36, 0.5)], 9.5) == (
        Squares("e1", "M0 0.5h9.5v9.5h-9.5zM36 0.5h9.5v9.5h-9.5z"),
        Squares("z", "M18 0.5h9.5v9.5h-9.5z"),
    )


def test_no_square_is_no_path():
    assert squares([], 9.5) == ()


@given(st.lists(st.tuples(st.sampled_from("abc"), QUARTERS, QUARTERS)), st.integers(1, 80).map(lambda n: n / 4))
def test_every_square_is_drawn_once_and_as_large_as_the_others(places, side):
    drawn = [
        (each.look, float(left), float(top))
        for each in squares(places, side)
        for left, top, *sides in SQUARE.findall(each.path)
        if list(map(float, sides)) == [side, side, -side]
    ]
    assert sorted(drawn) == sorted(places)
