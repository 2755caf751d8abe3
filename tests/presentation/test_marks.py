"""Steps of the heat, intervals on their tracks, small pictures, numbers in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.presentation import numbers
from toolevals.presentation.numbers import interval_mark, track_start
from toolevals.presentation.palettes import STEPS, count_bounds, count_step, heat_step
from toolevals.presentation.sparks import HEIGHT, WIDTH, spark

SHARES = st.floats(0, 1)


COUNTS = st.integers(0, 500)


@pytest.mark.parametrize(
    ("part", "whole", "step"),
    [
        (5, 100, "e1"),
        (20, 100, "e2"),
        (50, 100, "e3"),
        (80, 100, "e4"),
        (90, 100, "e5"),
        (18, 96, "e2"),
        (21, 96, "e3"),
    ],
)
def test_wrong_cells_of_large_rows_step_up_with_their_share(part, whole, step):
    assert heat_step(part, whole, right=False) == step


def test_a_small_row_is_paler_than_a_large_one_with_the_same_share():
    steps = [heat_step(many, many, right=False) for many in (1, 2, 5, 16, 17)]
    assert steps == ["e2", "e3", "e4", "e4", "e5"]


def test_wrong_cells_of_one_and_of_five_cases_differ_and_a_few_cases_make_no_dark_cell():
    few = count_bounds(5)
    assert [count_step(count, few) for count in (1, 2, 3, 4, 5)] == ["e1", "e2", "e2", "e3", "e3"]
    many = count_bounds(625)
    assert many == (5, 25, 125, 625)
    assert [count_step(count, many) for count in (1, 5, 25, 125, 625)] == ["e1", "e2", "e3", "e4", "e5"]


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_larger_count_is_never_paler_and_the_largest_of_many_is_darkest(one, other):
    low, high = sorted((one, other))
    steps = [count_step(count, count_bounds(high)) for count in (low, high)]
    assert steps == sorted(steps)
    assert (steps[1] == "e5") == (high >= 16)
    assert len(set(count_bounds(high))) == 4


@pytest.mark.parametrize(("part", "step"), [(0, "d1"), (799, "d1"), (800, "d2"), (899, "d2"), (900, "d3")])
def test_right_cells_step_up_with_recall(part, step):
    assert heat_step(part, 1000, right=True) == step


@given(COUNTS, COUNTS, COUNTS, st.booleans())
def test_a_larger_share_is_never_paler(one, other, more, right):
    low, high = sorted((one, other))
    steps = [STEPS.index(heat_step(part, high + more + 1, right=right)) for part in (low, high)]
    assert steps == sorted(steps)


def test_an_interval_stands_where_the_mockup_has_it():
    mark = interval_mark(0.850, 0.816, 0.878, goal=0.95, start=0.6)
    assert (mark.x, mark.width, mark.dot, mark.goal, mark.low) == ("54.0%", "15.5%", "62.5%", "87.5%", True)


def test_an_interval_that_reaches_the_goal_is_not_low():
    assert not interval_mark(0.9, 0.85, 0.951, goal=0.95).low


@given(st.lists(SHARES, min_size=3, max_size=3), SHARES, st.floats(0, 0.6))
def test_marks_stay_on_their_track(shares, goal, start):
    low, value, high = sorted(shares)
    mark = interval_mark(value, low, high, goal=goal, start=start)
    places = [float(text.removesuffix("%")) for text in (mark.x, mark.width, mark.dot, mark.goal)]
    assert all(0 <= place <= 100 for place in places)


@pytest.mark.parametrize(("lows", "start"), [([], 0.6), ([0.95], 0.6), ([0.58], 0.5), ([0.0], 0.0)])
def test_tracks_begin_below_every_interval(lows, start):
    assert track_start(lows) == start


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
