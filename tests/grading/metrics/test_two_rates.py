"""Two rates of different examples are told apart by a test that counts trials of one example as alike."""

from __future__ import annotations

import pytest

from toolevals.grading.metrics.clustered import ExampleSums, rates_differ
from toolevals.grading.metrics.rates import student_quantile, student_tail


def test_the_score_test_with_yates_correction():
    """15 of 100 against 30 of 100: chi-square is 5.6201 with the correction, and 1 - 2 * 0.9907 with 198 degrees."""
    p_value = rates_differ(ExampleSums.single(15, 100), ExampleSums.single(30, 100))
    assert p_value == pytest.approx(student_tail(198, 5.6201**0.5), rel=1e-4)
    assert p_value == pytest.approx(0.0187, abs=2e-4)


def test_very_many_examples_are_compared_with_the_normal():
    p_value = rates_differ(ExampleSums.single(1500, 10_000), ExampleSums.single(1600, 10_000))
    assert p_value == pytest.approx(0.0523, abs=2e-3)


def test_trials_that_are_alike_say_less():
    single = rates_differ(ExampleSums.single(15, 100), ExampleSums.single(40, 100))
    alike = rates_differ(ExampleSums.of({(4, 4): 4, (4, 0): 21}), ExampleSums.of({(4, 4): 10, (4, 0): 15}))
    assert single is not None
    assert alike is not None
    assert single < 0.001 < 0.05 < alike


def test_few_examples_tell_nothing_and_equal_rates_do_not_differ():
    assert rates_differ(ExampleSums.single(0, 19), ExampleSums.single(19, 19)) is None
    assert rates_differ(ExampleSums(), ExampleSums.single(19, 40)) is None
    assert rates_differ(ExampleSums.single(3, 30), ExampleSums.single(3, 30)) == 1.0
    assert rates_differ(ExampleSums.single(0, 30), ExampleSums.single(0, 30)) == 1.0
    assert (rates_differ(ExampleSums.single(0, 30), ExampleSums.single(30, 30)) or 0.0) < 1e-6


@pytest.mark.parametrize("degrees", [1, 2, 7, 38, 400])
def test_the_tail_turns_the_quantile_around(degrees):
    assert student_tail(degrees, student_quantile(degrees, 0.95)) == pytest.approx(0.05, abs=1e-5)
