"""Fisher's exact test of a rate that has fallen: against the sum of the hypergeometric distribution, and its laws."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.comparison import fisher_fewer


def summed(before: tuple[int, int], after: tuple[int, int]) -> float:
    (seen, total), (later, later_total) = before, after
    both = seen + later
    ways = sum(comb(total, both - k) * comb(later_total, k) for k in range(later + 1) if both - k >= 0)
    return ways / comb(total + later_total, both)


def proportions() -> st.SearchStrategy[tuple[int, int]]:
    return st.integers(0, 60).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))


@given(proportions(), proportions())
def test_it_is_the_lower_tail_of_the_hypergeometric_distribution(before, after):
    assert fisher_fewer(before, after) == pytest.approx(summed(before, after), rel=1e-9)


def test_known_values():
    # The lady tasting tea: three of four cups right is 17/70, four of four is 1/70.
    assert fisher_fewer((4, 4), (0, 4)) == pytest.approx(1 / 70)
    assert fisher_fewer((3, 4), (1, 4)) == pytest.approx(17 / 70)
    assert fisher_fewer((27, 180), (0, 34)) == pytest.approx(summed((27, 180), (0, 34)))
    assert fisher_fewer((0, 50), (0, 50)) == 1.0
    assert fisher_fewer((5, 50), (0, 0)) == 1.0
    assert 0 < fisher_fewer((30_000, 100_000), (29_000, 100_000)) < 1e-3


@given(proportions().filter(lambda each: each[0] > 0), st.integers(0, 80))
def test_more_cases_without_one_are_less_likely_luck(before, cases):
    assert fisher_fewer(before, (0, cases + 1)) <= fisher_fewer(before, (0, cases)) * (1 + 1e-9)


@pytest.mark.parametrize(("before", "after"), [((2, 1), (0, 1)), ((-1, 1), (0, 1)), ((0, 1), (2, 1))])
def test_what_is_no_proportion_is_refused(before, after):
    with pytest.raises(ValueError, match="not two proportions"):
        fisher_fewer(before, after)
