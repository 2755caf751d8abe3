from collections import Counter
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.metrics.means import clustered_mean, difference_interval, mean_interval

shares = st.floats(0, 1)


def test_few_examples_that_come_out_alike_leave_a_width():
    """Of 29 examples without any difference nobody knows that there is none."""
    interval = difference_interval({0.0: 29})
    assert interval is not None
    # So many changed examples would be missed one time in twenty: 1 - .05^(1/29).
    assert (interval.low, interval.high) == pytest.approx((-0.098, 0.098), abs=0.01)
    mean = mean_interval({0.7: 12})
    assert mean is not None
    assert mean.high - mean.low > 0.2


@pytest.mark.parametrize(("passed", "total"), [(30, 100), (1900, 2000), (10, 10), (0, 25)])
def test_the_interval_of_scores_0_and_1_is_that_of_a_rate(passed, total):
    interval = mean_interval({1.0: passed, 0.0: total - passed})
    exact = clustered_interval(ExampleSums.single(passed, total))
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("of", [mean_interval, difference_interval])
def test_what_is_no_list_of_units_is_refused(of):
    for values in ({float("nan"): 1}, {0.5: -1}):
        with pytest.raises(ValueError):
            of(values)
    with pytest.raises(ValueError):
        of({0.0: 3, 1.0: 3}, confidence=0)


def test_differences_are_covered_as_often_as_said():
    random = Random(4)
    for examples, less, more in ((20, 0.05, 0.0), (30, 0.02, 0.02), (100, 0.02, 0.0), (50, 0.1, 0.2)):
        shares = [less, 1 - less - more, more]
        held = 0
        for _ in range(600):
            drawn = difference_interval(Counter(random.choices((-1.0, 0.0, 1.0), shares, k=examples)))
            assert drawn is not None
            held += drawn.low <= more - less <= drawn.high
        assert held >= 0.93 * 600


def test_many_distinct_values_give_the_normal_interval():
    random = Random(3)
    values = Counter(random.gauss(5, 2) for _ in range(10_000))
    mean = sum(values) / len(values)
    half = NormalDist().inv_cdf(0.975) * 2 / 100
    interval = mean_interval(values)
    assert interval is not None
    assert interval.low == pytest.approx(mean - half, abs=0.1 * half)
    assert interval.high == pytest.approx(mean + half, abs=0.1 * half)


def test_trials_of_one_example_do_not_count_as_examples():
    alike = clustered_mean({i: [i % 3 > 0] * 8 for i in range(60)})
    single = clustered_mean({i: [i % 3 > 0] for i in range(60)})
    assert alike == single
    assert alike.count == 60


def test_an_example_counts_once_however_many_trials_it_has():
    assert clustered_mean({"a": [True] * 9, "b": [False]}).value == 0.5


def test_what_is_unscored_is_left_out():
    estimate = clustered_mean({"a": [True, None], "b": [None], "c": [float("nan"), 0.5], "d": []})
    assert (estimate.value, estimate.count) == (0.75, 2)
    empty = clustered_mean({"a": [None]})
    assert (empty.value, empty.interval, empty.count) == (None, None, 0)
    assert empty.reason == "nothing was scored"


def test_one_unit_has_no_interval():
    assert mean_interval({0.5: 1}) is None
    assert clustered_mean({"a": [True, False]}).interval is None


@given(st.dictionaries(shares, st.integers(0, 30), max_size=6))
@settings(max_examples=60)
def test_the_interval_holds_the_mean_and_stays_in_its_range(values):
    units = sum(values.values())
    interval = mean_interval(values)
    if units < 2:
        assert interval is None
        return
    assert interval is not None
    mean = sum(value * count for value, count in values.items()) / units
    assert -1e-9 <= interval.low <= mean + 1e-9
    assert mean - 1e-9 <= interval.high <= 1 + 1e-9
    assert interval.high - interval.low > 0.001
