import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.rates import wilson


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    # Worked by hand from the formula; 15 of 20 and 0 of 10 also stand in many textbooks.
    [(15, 20, 0.5313, 0.8881), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (262, 300, 0.8309, 0.9063)],
)
def test_the_interval_agrees_with_hand_worked_values(passed, total, low, high):
    interval = wilson(passed, total)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_interval_holds_the_proportion_and_stays_in_bounds(passed, failed):
    interval = wilson(passed, passed + failed)
    share = passed / (passed + failed) if passed + failed else 0.5
    assert 0 <= interval.low <= share <= interval.high <= 1


@given(st.integers(0, 100), st.integers(1, 100))
def test_more_passes_never_lower_the_interval(passed, failed):
    total = passed + failed
    less, more = wilson(passed, total), wilson(passed + 1, total)
    assert less.low <= more.low
    assert less.high <= more.high


@given(st.integers(0, 50), st.integers(1, 50))
def test_more_cases_and_less_confidence_narrow_the_interval(passed, failed):
    total = passed + failed
    one, ten, lax = wilson(passed, total), wilson(10 * passed, 10 * total), wilson(passed, total, confidence=0.8)
    assert ten.high - ten.low < one.high - one.low
    assert lax.high - lax.low < one.high - one.low


def test_nothing_counted_is_nothing_known():
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)


@pytest.mark.parametrize(("passed", "total", "confidence"), [(2, 1, 0.9), (-1, 3, 0.9), (1, 2, 1.0), (0, 0, 0.0)])
def test_what_is_no_proportion_is_refused(passed, total, confidence):
    with pytest.raises(ValueError):
        wilson(passed, total, confidence)
