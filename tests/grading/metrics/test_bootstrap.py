from collections import Counter
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolevals.grading.metrics.bootstrap import bootstrap_interval, clustered_mean, f1_interval, mean_interval
from toolevals.grading.metrics.rates import Interval, wilson

shares = st.floats(0, 1)


def test_the_interval_agrees_with_resampling_case_by_case():
    correct, support, predicted, total = 22, 32, 25, 300
    cells = [0] * correct + [1] * (support - correct) + [2] * (predicted - correct)
    cells += [3] * (total - len(cells))
    random = Random(2)
    scores = []
    for _ in range(2000):
        drawn = Counter(random.choices(cells, k=total))
        scores.append(2 * drawn[0] / (2 * drawn[0] + drawn[1] + drawn[2]))
    scores.sort()
    interval = f1_interval(correct, support, predicted, total)
    assert interval is not None
    assert interval.low == pytest.approx(scores[50], abs=0.015)
    assert interval.high == pytest.approx(scores[1950], abs=0.015)
    assert interval.low < 2 * correct / (support + predicted) < interval.high


def test_the_same_counts_always_give_the_same_interval():
    f1_interval.cache_clear()
    first = f1_interval(10, 20, 15, 100)
    f1_interval.cache_clear()
    assert f1_interval(10, 20, 15, 100) == first
    outcomes = {"a": [True, False], "b": [True, True], "c": [False]}
    assert clustered_mean(outcomes) == clustered_mean(outcomes)


def test_what_is_certain_has_no_width():
    assert f1_interval(50, 50, 50, 50) == Interval(1, 1)
    assert mean_interval({0.7: 12}) == Interval(0.7, 0.7)


def test_a_class_that_never_occurs_has_no_interval():
    assert f1_interval(0, 0, 0, 10) is None


def test_counts_that_contradict_each_other_are_refused():
    for counts in ((3, 2, 3, 10), (0, 6, 6, 10)):
        with pytest.raises(ValueError):
            f1_interval(*counts)
    with pytest.raises(ValueError):
        f1_interval(1, 2, 2, 10, confidence=1.0)


def test_what_is_no_list_of_units_is_refused():
    for values in ({float("nan"): 1}, {0.5: -1}):
        with pytest.raises(ValueError):
            mean_interval(values)
    with pytest.raises(ValueError):
        mean_interval({0.0: 3, 1.0: 3}, confidence=0)
    with pytest.raises(ValueError):
        mean_interval({0.0: 3, 1.0: 3}, resamples=0)


@pytest.mark.parametrize(("passed", "total"), [(30, 100), (1900, 2000), (500, 1000)])
def test_the_interval_of_a_proportion_is_near_wilsons(passed, total):
    interval, exact = mean_interval({1.0: passed, 0.0: total - passed}), wilson(passed, total)
    assert interval is not None
    width = exact.high - exact.low
    assert interval.low == pytest.approx(exact.low, abs=0.12 * width)
    assert interval.high == pytest.approx(exact.high, abs=0.12 * width)


def test_many_distinct_values_give_the_normal_interval():
    random = Random(3)
    values = Counter(random.gauss(5, 2) for _ in range(10_000))
    mean = sum(values) / len(values)
    half = NormalDist().inv_cdf(0.975) * 2 / 100
    interval = mean_interval(values)
    assert interval is not None
    assert interval.low == pytest.approx(mean - half, abs=0.1 * half)
    assert interval.high == pytest.approx(mean + half, abs=0.1 * half)


def test_few_values_are_not_rounded_however_near_they_are():
    interval = mean_interval({0.0: 50, 0.0001: 50, 1.0: 1})
    assert interval is not None
    # A resample without the one great value: 50 of the other 100 are 0.0001, give or take.
    assert interval.low == pytest.approx(0.0000425, rel=0.05)


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
def test_the_interval_holds_the_mean_and_stays_among_the_values(values):
    units = sum(values.values())
    interval = mean_interval(values, resamples=100)
    if units < 2:
        assert interval is None
        return
    assert interval is not None
    present = [value for value, count in values.items() if count]
    mean = sum(value * count for value, count in values.items()) / units
    assert min(present) - 1e-9 <= interval.low <= mean + 1e-9
    assert mean - 1e-9 <= interval.high <= max(present) + 1e-9


@given(st.lists(shares, min_size=2, max_size=20), st.floats(0.5, 0.9), st.floats(0.91, 0.99))
def test_more_confidence_never_narrows(draws, low, high):
    narrow, wide = bootstrap_interval(draws, draws[0], low), bootstrap_interval(draws, draws[0], high)
    assert narrow is not None
    assert wide is not None
    assert wide.low <= narrow.low <= narrow.high <= wide.high


def test_draws_without_the_figure_have_no_interval():
    assert bootstrap_interval([None, None], 0.5) is None


def test_values_that_differ_by_a_hair_are_all_counted():
    """0.3 - 0.1 and 0.5 - 0.3 are two floats: neither may take the place of the other."""
    hair = 0.3 - 0.1
    assert hair != 0.2
    interval = mean_interval({-1.0: 5, hair: 20, 0.2: 20, 1.0: 5})
    merged = mean_interval({-1.0: 5, 0.2: 40, 1.0: 5})
    assert interval is not None
    assert merged is not None
    assert (interval.low, interval.high) == pytest.approx((merged.low, merged.high), abs=1e-9)
