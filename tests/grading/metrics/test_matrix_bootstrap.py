from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.metrics.test_confusion import PUBLISHED
from toolevals.grading.metrics.clustered import clustered_interval, f1_sums
from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.grading.metrics.matrix_bootstrap import (
    Cell,
    clustered_matrix_intervals,
    macro_f1_difference,
    macro_f1_interval,
    matrix_intervals,
)
from toolevals.grading.metrics.rates import wilson
from toolevals.grading.values.verdicts import NONE, UNPARSED

cells = st.tuples(st.sampled_from(["a", "b", NONE]), st.sampled_from(["a", "b", NONE, UNPARSED]))


def test_the_interval_of_macro_f1_agrees_with_resampling_case_by_case():
    cases = [cell for cell, count in PUBLISHED.items() for _ in range(count)]
    random = Random(5)
    drawn = sorted(ConfusionMatrix(Counter(random.choices(cases, k=300))).macro_f1 or 0 for _ in range(800))
    interval = macro_f1_interval(PUBLISHED)
    assert interval is not None
    assert interval.low == pytest.approx(drawn[20], abs=0.015)
    assert interval.high == pytest.approx(drawn[780], abs=0.015)


def test_every_figure_has_its_interval_from_one_set_of_resamples():
    intervals, matrix = matrix_intervals(PUBLISHED), ConfusionMatrix(PUBLISHED)
    exact = wilson(262, 300)
    assert intervals.accuracy is not None
    assert intervals.micro_f1 == intervals.accuracy
    assert intervals.accuracy.low == pytest.approx(exact.low, abs=0.01)
    assert intervals.accuracy.high == pytest.approx(exact.high, abs=0.01)
    for each in matrix.per_class:
        drawn = intervals.f1[each.name]
        by_formula = clustered_interval(f1_sums(each.correct, each.support, each.predicted))
        assert drawn is not None
        assert drawn.low == pytest.approx(by_formula.low, abs=0.05)
        assert drawn.high == pytest.approx(by_formula.high, abs=0.05)


def test_what_has_no_cases_has_no_interval():
    empty = matrix_intervals({})
    assert (empty.f1, empty.macro_f1, empty.micro_f1, empty.accuracy) == ({}, None, None, None)
    assert macro_f1_interval({}) is None


def test_trials_that_agree_do_not_narrow_the_interval():
    single = matrix_intervals(PUBLISHED)
    four = clustered_matrix_intervals({(cell,) * 4: count for cell, count in PUBLISHED.items()})
    assert four == single


def test_trials_that_differ_by_chance_do():
    one = clustered_matrix_intervals({(("a", "a"),): 60, (("a", "b"),): 40})
    two = clustered_matrix_intervals({(("a", "a"), ("a", "b")): 100})
    assert one.accuracy is not None
    assert two.accuracy is not None
    assert one.accuracy.high - one.accuracy.low > 0.1
    assert (two.accuracy.low, two.accuracy.high) == (0.5, 0.5)


@given(st.dictionaries(cells, st.integers(1, 40), min_size=1, max_size=8))
@settings(max_examples=40)
def test_the_intervals_hold_their_figures(counts):
    intervals, matrix = matrix_intervals(counts, resamples=60), ConfusionMatrix(counts)
    figures = [(each.f1, intervals.f1[each.name]) for each in matrix.per_class]
    figures += [
        (matrix.macro_f1, intervals.macro_f1),
        (matrix.micro_f1, intervals.micro_f1),
        (matrix.accuracy, intervals.accuracy),
    ]
    for figure, interval in figures:
        assert (interval is None) == (figure is None)
        if interval is not None and figure is not None:
            assert 0 <= interval.low <= figure <= interval.high <= 1


def test_two_runs_are_compared_on_the_same_resamples():
    right, wrong = (("a", "a"),), (("a", "b"),)
    other = (("b", "b"),)
    outcomes: dict[tuple[tuple[Cell, ...], tuple[Cell, ...]], int] = {
        (right, right): 70,
        (wrong, right): 20,
        (right, wrong): 5,
        (other, other): 60,
    }
    estimate = macro_f1_difference(outcomes)
    before = ConfusionMatrix({("a", "a"): 75, ("a", "b"): 20, ("b", "b"): 60}).macro_f1
    after = ConfusionMatrix({("a", "a"): 90, ("a", "b"): 5, ("b", "b"): 60}).macro_f1
    assert before is not None
    assert after is not None
    assert estimate.value == pytest.approx(after - before)
    assert estimate.interval is not None
    assert 0 < estimate.interval.low < after - before < estimate.interval.high
    # Pairing helps: the interval of the difference is narrower than that of one run is wide.
    alone = macro_f1_interval({("a", "a"): 75, ("a", "b"): 20, ("b", "b"): 60})
    assert alone is not None
    assert estimate.interval.high - estimate.interval.low < 1.5 * (alone.high - alone.low)


def test_equal_runs_differ_by_nothing():
    right, wrong = (("a", "a"),), (("a", "b"),)
    estimate = macro_f1_difference({(right, right): 5, (wrong, wrong): 5})
    assert (estimate.value, estimate.interval and (estimate.interval.low, estimate.interval.high)) == (0, (0, 0))
    assert macro_f1_difference({}).value is None
