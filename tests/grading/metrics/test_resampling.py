from collections import Counter
from math import exp, lgamma, log, sqrt
from statistics import fmean, pvariance

import pytest

from toolevals.grading.metrics.resampling import Resamples


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
