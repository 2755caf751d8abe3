"""Steps of the heat, intervals on their tracks, small pictures, numbers in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.presentation import numbers
from toolevals.presentation.heat import STEPS, heat_step
from toolevals.presentation.intervals import interval_mark, track_floor
from toolevals.presentation.sparks import HEIGHT, WIDTH, spark

SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("share", "step"),
    [
        (0.001, "e1"),
        (0.04, "e1"),
        (0.041, "e2"),
        (0.07, "e2"),
        (0.12, "e3"),
        (0.18, "e4"),
        (0.181, "e5"),
        (1.0, "e5"),
    ],
)
def test_wrong_cells_step_up_with_their_share(share, step):
    assert heat_step(share, right=False) == step


@pytest.mark.parametrize(("share", "step"), [(0.0, "d1"), (0.799, "d1"), (0.8, "d2"), (0.899, "d2"), (0.9, "d3")])
def test_right_cells_step_up_with_recall(share, step):
    assert heat_step(share, right=True) == step


@given(SHARES, SHARES, st.booleans())
def test_a_larger_share_is_never_paler(one, other, right):
    low, high = sorted((one, other))
    assert STEPS.index(heat_step(low, right=right)) <= STEPS.index(heat_step(high, right=right))


def test_an_interval_stands_where_the_mockup_has_it():
    mark = interval_mark(0.850, 0.816, 0.878, goal=0.95, floor=0.6)
    assert (mark.x, mark.width, mark.dot, mark.goal, mark.low) == ("54.0%", "15.5%", "62.5%", "87.5%", True)


def test_an_interval_that_reaches_the_goal_is_not_low():
    assert not interval_mark(0.9, 0.85, 0.951, goal=0.95).low


@given(st.lists(SHARES, min_size=3, max_size=3), SHARES, st.floats(0, 0.6))
def test_marks_stay_on_their_track(shares, goal, floor):
    low, value, high = sorted(shares)
    mark = interval_mark(value, low, high, goal=goal, floor=floor)
    places = [float(text.removesuffix("%")) for text in (mark.x, mark.width, mark.dot, mark.goal)]
    assert all(0 <= place <= 100 for place in places)


@pytest.mark.parametrize(("lows", "floor"), [([], 0.6), ([0.95], 0.6), ([0.58], 0.5), ([0.0], 0.0)])
def test_tracks_begin_below_every_interval(lows, floor):
    assert track_floor(lows) == floor


@given(st.lists(st.lists(SHARES, min_size=3, max_size=3).map(sorted), min_size=1, max_size=12), st.floats(0, 1))
def test_a_small_picture_stays_in_its_frame(shares, goal):
    picture = spark([(value, low, high) for low, value, high in shares], goal=goal)
    for point in (picture.line + " " + picture.band).split():
        x, y = map(float, point.split(","))
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT


def test_numbers_read_as_people_write_them():
    assert numbers.percent(0.8496) == "85.0"
    assert numbers.percent(None) == "–"
    assert numbers.whole_percent(0.705) == "70"
    assert numbers.span(0.816, 0.878) == "81.6 to 87.8"
    assert numbers.span(None, None) == "–"
    assert numbers.count(1234567) == "1,234,567"
