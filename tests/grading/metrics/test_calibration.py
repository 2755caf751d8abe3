from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.agreement import clustered_kappa
from toolevals.grading.metrics.calibration import JudgeTable, rogan_gladen
from toolevals.grading.metrics.clustered import ExampleSums, summed
from toolevals.grading.metrics.rates import Interval, wilson

sizes = st.integers(0, 40)


def test_the_table_of_a_judge():
    table = JudgeTable.of_cases(
        [(True, True)] * 40 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 45 + [(None, True)]
    )
    assert table == JudgeTable(40, 5, 10, 45)
    assert (table.sensitivity.value, table.specificity.value) == (0.8, 0.9)
    assert table.sensitivity.interval == wilson(40, 50)
    assert table.agreement.value == 0.85
    assert table.kappa == clustered_kappa({("+", "+"): 40, ("+", "-"): 5, ("-", "+"): 10, ("-", "-"): 45})
    with pytest.raises(ValueError):
        JudgeTable(1, -1, 0, 0)


def test_a_rate_put_right_by_hand():
    # .66 passed of a judge with se .8 and sp .9: (.66 - .1)/.7.
    estimate = rogan_gladen(660, 1000, JudgeTable(40, 5, 10, 45))
    assert estimate.value == pytest.approx(0.8)
    assert estimate.interval is not None
    assert estimate.interval.low < 0.8 < estimate.interval.high


def test_a_perfect_judge_changes_nothing():
    estimate = rogan_gladen(70, 100, JudgeTable(5000, 0, 0, 5000))
    assert estimate.value == 0.7
    exact = wilson(70, 100)
    assert estimate.interval is not None
    assert estimate.interval.low == pytest.approx(exact.low, abs=0.002)
    assert estimate.interval.high == pytest.approx(exact.high, abs=0.002)


def test_the_value_is_held_in_range():
    table = JudgeTable(40, 5, 10, 45)
    assert rogan_gladen(0, 100, table).value == 0
    assert rogan_gladen(100, 100, table).value == 1


@pytest.mark.parametrize(
    ("passed", "total", "table", "reason"),
    [
        (0, 0, JudgeTable(1, 1, 1, 1), "nothing was judged"),
        (1, 2, JudgeTable(0, 1, 0, 1), "people passed no case, so the judge's errors are not known"),
        (1, 2, JudgeTable(1, 0, 1, 0), "people failed no case, so the judge's errors are not known"),
        (
            1,
            2,
            JudgeTable(5, 5, 5, 5),
            "the judge is no better than chance: sensitivity and specificity sum to 1 or less",
        ),
    ],
)
def test_what_cannot_be_put_right_says_why(passed, total, table, reason):
    estimate = rogan_gladen(passed, total, table)
    assert (estimate.value, estimate.interval, estimate.reason) == (None, None, reason)


def test_bad_counts_are_refused():
    with pytest.raises(ValueError):
        rogan_gladen(3, 2, JudgeTable(1, 1, 1, 1))


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    random, true, covered = Random(11), 0.7, 0
    for _ in range(400):
        right = [random.random() < 0.85 for _ in range(60)]
        wrong = [random.random() < 0.1 for _ in range(60)]
        table = JudgeTable(sum(right), sum(wrong), 60 - sum(right), 60 - sum(wrong))
        passed = sum(random.random() < true * 0.85 + (1 - true) * 0.1 for _ in range(200))
        interval = rogan_gladen(passed, 200, table).interval
        assert interval is not None
        covered += interval.low <= true <= interval.high
    assert 0.92 < covered / 400 < 0.985


def test_several_trials_of_an_example_are_covered_about_as_often_as_they_say():
    """Four of five examples come out alike in all eight trials: counting cases covers the truth far too seldom."""
    random, true = Random(5), 0.7
    covered, counting_cases = 0, 0
    for _ in range(300):
        right = sum(random.random() < 0.85 for _ in range(140))
        table = JudgeTable(right, (wrong := sum(random.random() < 0.1 for _ in range(60))), 140 - right, 60 - wrong)
        sums = summed([(8, _judged_passed(random, true)) for _ in range(30)])
        found = rogan_gladen(sums.passed, sums.trials, table, sums=sums).interval
        plain = rogan_gladen(sums.passed, sums.trials, table).interval
        assert found is not None
        assert plain is not None
        covered += found.low <= true <= found.high
        counting_cases += plain.low <= true <= plain.high
    assert counting_cases / 300 < 0.75
    assert 0.92 < covered / 300 <= 0.99


def _judged_passed(random: Random, true: float) -> int:
    """Draw how many of eight trials a judge passes: it passes 85 % of the right ones and 10 % of the wrong ones."""
    alike = random.random() < 0.8
    first = random.random() < true
    trials = [first if alike else random.random() < true for _ in range(8)]
    return sum(random.random() < (0.85 if right else 0.1) for right in trials)


def test_one_example_tells_nothing_of_the_rate_behind_a_judge():
    estimate = rogan_gladen(5, 8, JudgeTable(40, 5, 10, 45), sums=summed([(8, 5)]))
    assert estimate.interval == Interval(0, 1)


def test_single_trials_are_examples_of_their_own():
    table = JudgeTable(40, 5, 10, 45)
    assert rogan_gladen(66, 100, table, sums=ExampleSums.single(66, 100)) == rogan_gladen(66, 100, table)


@given(sizes, sizes, sizes, sizes, st.integers(0, 50), st.integers(0, 50))
def test_the_interval_holds_the_value_between_0_and_1(a, b, c, d, passed, failed):
    estimate = rogan_gladen(passed, passed + failed, JudgeTable(a, b, c, d))
    assert (estimate.value is None) == bool(estimate.reason)
    if estimate.value is not None:
        assert estimate.interval is not None
        assert 0 <= estimate.interval.low <= estimate.value <= estimate.interval.high <= 1


def test_a_judge_that_is_barely_better_than_chance_says_nothing():
    # As counted se + sp is just above 1; with one case added to each side it is not.
    assert rogan_gladen(1, 2, JudgeTable(1, 9, 0, 1)).interval == Interval(0, 1)
