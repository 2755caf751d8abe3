from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolevals.grading.metrics.clustered import clustered_interval, f1_sums
from toolevals.grading.metrics.comparison import paired_class
from toolevals.grading.metrics.rates import Interval

NOTHING = (0, 0, 0)
HIT, MISS, FALSE = (1, 1, 1), (0, 1, 0), (0, 0, 1)


def test_figures_by_hand():
    # Before: 6 of 15 found, and 2 called wrongly; after: 14 of 15, and 1.
    found = paired_class({(MISS, HIT): 9, (HIT, MISS): 1, (HIT, HIT): 5, (FALSE, NOTHING): 1, (FALSE, FALSE): 1})
    assert (found.recall.before, found.recall.after) == (6 / 15, 14 / 15)
    assert (found.precision.before, found.precision.after) == (6 / 8, 14 / 15)
    assert (found.f1.before, found.f1.after) == (12 / 23, 28 / 30)
    interval = found.recall.interval
    assert interval is not None
    assert 0 < interval.low < 8 / 15 < interval.high < 1


def test_a_side_without_a_figure_has_no_difference():
    found = paired_class({(NOTHING, HIT): 4, (FALSE, NOTHING): 2})
    assert (found.recall.before, found.recall.difference, found.recall.interval) == (None, None, None)
    assert found.precision.difference == 1
    assert paired_class({}).f1.before is None


def test_the_same_counts_in_another_unit_are_the_same():
    counts = {(MISS, HIT): 9, (HIT, MISS): 1, (HIT, FALSE): 5}
    tripled = {tuple(tuple(3 * n for n in side) for side in pair): count for pair, count in counts.items()}
    one, other = paired_class(counts), paired_class(tripled)  # type: ignore[arg-type]
    assert (one.f1.before, one.f1.after) == (other.f1.before, other.f1.after)
    for name in ("precision", "recall", "f1"):
        found, same = getattr(one, name).interval, getattr(other, name).interval
        assert (found.low, found.high) == (pytest.approx(same.low), pytest.approx(same.high))


def test_few_examples_that_come_out_alike_leave_a_width():
    found = paired_class({(HIT, HIT): 29})
    assert (found.f1.difference, found.recall.difference) == (0, 0)
    for figure in (found.precision, found.recall, found.f1):
        assert figure.interval is not None
        assert figure.interval.low < -0.05
        assert figure.interval.high > 0.05


def test_a_single_example_says_nothing():
    figure = paired_class({(HIT, MISS): 1}).recall
    assert (figure.difference, figure.interval) == (-1, Interval(-1.0, 1.0))


sides = st.sampled_from([HIT, MISS, FALSE, NOTHING])


@given(st.dictionaries(st.tuples(sides, sides), st.integers(1, 30), max_size=8))
@settings(max_examples=25)
def test_swapping_the_runs_turns_every_difference_round(counts):
    there = paired_class(counts)
    back = paired_class({(after, before): count for (before, after), count in counts.items()})
    for name in ("precision", "recall", "f1"):
        one, other = getattr(there, name), getattr(back, name)
        assert (one.before, one.after) == (other.after, other.before)
        if one.difference is not None:
            assert one.difference == -other.difference
            assert -1 <= one.interval.low <= one.difference <= one.interval.high <= 1


def test_against_a_side_that_does_not_vary_it_is_the_interval_of_one_run():
    # Every case is a hit before: what varies is one run's F1.
    found = paired_class({(HIT, HIT): 60, (HIT, MISS): 40})
    alone = clustered_interval(f1_sums(60, 100, 60))
    assert found.f1.interval is not None
    assert found.f1.interval.low + 1 == pytest.approx(alone.low, abs=0.03)
    assert found.f1.interval.high + 1 == pytest.approx(alone.high, abs=0.03)
