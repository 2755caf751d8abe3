from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from math import exp, lgamma, log, sqrt
from statistics import fmean, pvariance

import pytest

from toolevals.grading.metrics.resampling import Resamples, _poisson_ends, _small_tables


@pytest.mark.parametrize("mean", [1, 3, 24, 25, 200])
def test_draws_have_the_poisson_distribution(mean):
    draws = 20_000
    series = Resamples(draws)
    seen = Counter(series.unpack(series.weights(mean)))
    statistic = bins = 0.0
    for k in range(max(seen) + 1):
        expected = draws * exp(k * log(mean) - mean - lgamma(k + 1))
        if expected >= 10:
            statistic += (seen[k] - expected) ** 2 / expected
            bins += 1
    # Chi-square, five standard deviations above its mean.
    assert statistic < bins + 5 * sqrt(2 * bins)


@pytest.mark.parametrize("mean", [19_999, 20_000, 10_000_000])
def test_large_draws_have_mean_and_variance(mean):
    series = Resamples(5000)
    drawn = list(series.unpack(series.weights(mean)))
    assert fmean(drawn) == pytest.approx(mean, abs=5 * sqrt(mean / 5000))
    assert pvariance(drawn) == pytest.approx(mean, rel=0.12)


@pytest.mark.parametrize("mean", [1, 7, 24, 25, 300, 19_999])
def test_each_quantile_has_its_share_of_the_indices(mean):
    least, ends = _poisson_ends(mean)
    shares = [exp(k * log(mean) - mean - lgamma(k + 1)) for k in range(least + len(ends))]
    below = list(accumulate(shares))[least:]
    assert below[0] - shares[least] < 1e-9
    assert [end / 65_536 for end in ends] == pytest.approx(below, abs=1e-5)
    assert below[-1] > 1 - 1e-5


def test_small_tables_hold_what_large_counts_look_up():
    for mean in range(25):
        table, by_first = _small_tables(mean)
        least, ends = _poisson_ends(mean)
        assert list(table) == [least + bisect_right(ends, index) for index in range(65_536)]
        decided = [first for first in range(256) if by_first[first] != 255]
        assert all(set(table[first << 8 : (first + 1) << 8]) == {by_first[first]} for first in decided)


def test_nothing_is_drawn_of_nothing():
    series = Resamples(10)
    assert set(series.unpack(series.weights(0))) == {0}


def test_sums_are_the_sums_in_each_resample():
    series = Resamples(50)
    one, other = series.weights(3), series.weights(40)
    together = series.unpack(one + 5 * other)
    assert list(together) == [a + 5 * b for a, b in zip(series.unpack(one), series.unpack(other), strict=True)]


def test_draws_follow_the_seed_alone():
    def drawn(seed: int) -> list[list[int]]:
        series = Resamples(20, seed)
        return [list(series.unpack(series.weights(count))) for count in (1, 1, 30)]

    assert drawn(4) == drawn(4)
    assert drawn(4) != drawn(5)
    first, second, _ = drawn(4)
    assert first != second


def test_bad_counts_are_refused():
    with pytest.raises(ValueError):
        Resamples(0)
    with pytest.raises(ValueError):
        Resamples(5).weights(-1)
