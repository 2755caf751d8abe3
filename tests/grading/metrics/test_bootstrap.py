from collections import Counter
from math import comb, sqrt
from random import Random

import pytest

from tests.grading.metrics.test_confusion import PUBLISHED
from toolevals.grading.metrics.bootstrap import binomial, f1_interval, macro_f1_interval
from toolevals.grading.metrics.confusion import ConfusionMatrix


@pytest.mark.parametrize(("n", "p"), [(8, 0.3), (40, 0.1), (60, 0.35), (60, 0.8), (200, 0.5)])
def test_binomial_draws_have_the_distribution(n, p):
    random, draws = Random(1), 20_000
    seen = Counter(binomial(random, n, p) for _ in range(draws))
    statistic = bins = 0.0
    for k in range(n + 1):
        expected = draws * comb(n, k) * p**k * (1 - p) ** (n - k)
        if expected >= 10:
            statistic += (seen[k] - expected) ** 2 / expected
            bins += 1
    # Chi-square, five standard deviations above its mean.
    assert statistic < bins + 5 * sqrt(2 * bins)


@pytest.mark.parametrize(("n", "p", "k"), [(0, 0.4, 0), (5, 0.0, 0), (5, 1.0, 5)])
def test_certain_draws_are_certain(n, p, k):
    assert binomial(Random(1), n, p) == k


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


def test_what_is_certain_has_no_width():
    interval = f1_interval(50, 50, 50, 50)
    assert interval is not None
    assert (interval.low, interval.high) == (1, 1)


def test_a_class_that_never_occurs_has_no_interval():
    assert f1_interval(0, 0, 0, 10) is None
    assert macro_f1_interval({}) is None


def test_counts_that_contradict_each_other_are_refused():
    for counts in ((3, 2, 3, 10), (0, 6, 6, 10)):
        with pytest.raises(ValueError):
            f1_interval(*counts)
    with pytest.raises(ValueError):
        f1_interval(1, 2, 2, 10, confidence=1.0)


def test_the_interval_of_macro_f1_holds_it():
    macro_f1 = ConfusionMatrix(PUBLISHED).macro_f1
    interval = macro_f1_interval(PUBLISHED)
    assert interval is not None
    assert macro_f1 is not None
    assert interval.low < macro_f1 < interval.high
    assert 0.05 < interval.high - interval.low < 0.15
