"""Intervals of figures that are no proportions, by resampling the cases.

Percentile bootstrap (B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979).
Cases of one cell of a matrix are alike, so a resample of n cases is a multinomial draw over the cells: its cost does
not grow with n. Draws are seeded, so the same counts give the same interval everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import floor, lgamma, log, sqrt
from random import Random

from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.grading.metrics.rates import Interval

RESAMPLES = 1000
_SEED = 20_000


@lru_cache(maxsize=4096)
def f1_interval(
    correct: int, support: int, predicted: int, total: int, *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Interval | None:
    """Return the interval of one class's F1 over `total` cases.

    `correct` cases are expected and called, `support` expected, `predicted` called. None where F1 is undefined.
    Raises ValueError on counts that contradict each other.
    """
    cells = [correct, support - correct, predicted - correct, total - support - predicted + correct]
    if min(cells) < 0:
        raise ValueError("the counts contradict each other")

    def f1(drawn: Sequence[int]) -> float | None:
        either = 2 * drawn[0] + drawn[1] + drawn[2]
        return 2 * drawn[0] / either if either else None

    return _interval(cells, f1, confidence, resamples)


def macro_f1_interval(
    counts: Mapping[tuple[str, str], int], *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Interval | None:
    """Return the interval of a matrix's macro F1. None where it has no cases."""
    cells = sorted(counts)

    def macro_f1(drawn: Sequence[int]) -> float | None:
        return ConfusionMatrix(dict(zip(cells, drawn, strict=True))).macro_f1

    return _interval([counts[cell] for cell in cells], macro_f1, confidence, resamples)


def _interval(
    cells: Sequence[int], figure: Callable[[Sequence[int]], float | None], confidence: float, resamples: int
) -> Interval | None:
    if not 0 < confidence < 1:
        raise ValueError("confidence is between 0 and 1, both excluded")
    if figure(cells) is None:
        return None
    random = Random(_SEED)  # noqa: S311 (statistics, no secret)
    drawn = (figure(_multinomial(random, cells)) for _ in range(resamples))
    values = sorted(value for value in drawn if value is not None)
    tail = (1 - confidence) / 2
    return Interval(_percentile(values, tail), _percentile(values, 1 - tail))


def _percentile(values: Sequence[float], share: float) -> float:
    place = share * (len(values) - 1)
    low = floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def _multinomial(random: Random, cells: Sequence[int]) -> list[int]:
    left, cases_left = sum(cells), sum(cells)
    drawn = []
    for cell in cells:
        taken = binomial(random, left, cell / cases_left) if cases_left else 0
        drawn.append(taken)
        left -= taken
        cases_left -= cell
    return drawn


def binomial(random: Random, n: int, p: float) -> int:
    """Draw how many of `n` trials succeed, each with probability `p`, in a time that does not grow with n."""
    if p > 0.5:
        return n - binomial(random, n, 1 - p)
    if n == 0 or p <= 0:
        return 0
    return _by_waiting(random, n, p) if n * p < 10 else _by_rejection(random, n, p)


def _by_waiting(random: Random, n: int, p: float) -> int:
    # The gaps between successes are geometric (Devroye, "Non-Uniform Random Variate Generation", 1986, X.4).
    scale = log(1 - p)
    successes = place = 0
    while True:
        place += floor(log(1 - random.random()) / scale) + 1
        if place > n:
            return successes
        successes += 1


def _by_rejection(random: Random, n: int, p: float) -> int:
    # BTRS: W. Hörmann, "The generation of binomial random variates", J. Stat. Comput. Simul. 46 (1993).
    spread = sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    alpha = (2.83 + 5.1 / b) * spread
    odds = log(p / (1 - p))
    mode = floor((n + 1) * p)
    peak = lgamma(mode + 1) + lgamma(n - mode + 1)
    while True:
        u, v = random.random() - 0.5, 1 - random.random()
        us = 0.5 - abs(u)
        if us <= 0:
            continue
        k = floor((2 * a / us + b) * u + c)
        if not 0 <= k <= n:
            continue
        if us >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if log(v * alpha / (a / (us * us) + b)) <= peak - lgamma(k + 1) - lgamma(n - k + 1) + (k - mode) * odds:
            return k
