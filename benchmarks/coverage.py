"""Measures coverage of intervals: how often that of a rate holds the true rate, and those of other figures theirs.

With one trial an example coverage is an exact sum. With more, the trials of an example are beta-binomial of a given
correlation, and samples are drawn with a seed; `COVERAGE_DRAWS` is another number of draws a cell.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import accumulate, groupby, product
from math import exp, lgamma, log
from operator import attrgetter
from random import Random
from statistics import fmean

from benchmarks._figures_coverage import beta_binomial, binomial, figure_cells
from benchmarks.row import Row
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.metrics.rates import Interval, wilson

DRAWS = int(os.environ.get("COVERAGE_DRAWS", "10000"))
EXAMPLES = (10, 20, 30, 40, 50, 100, 300)
TRIALS = (1, 2, 4, 8)
RATES = (0.5, 0.7, 0.8, 0.9, 0.944, 0.97)
CORRELATIONS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
LOWEST, LOW, MOST_LOW, MEAN = 0.90, 0.92, 0.05, (0.94, 0.975)
Method = Callable[[ExampleSums], Interval]
# Examples, trials of each, true rate, correlation of two trials of an example.
Cell = tuple[int, int, float, float]


def rows() -> Iterator[Row]:
    """Measure all cells, next to Wilson's interval, which counts each trial as an example."""
    cells = list(all_cells())
    found = [coverage(*cell, DRAWS) for cell in cells]
    plain = [coverage(*cell, DRAWS, method=_counting_trials) for cell in cells]
    yield Row("lowest coverage", min(found), "share", baseline=min(plain), target=LOWEST)
    low = (sum(each < LOW for each in side) / len(side) for side in (found, plain))
    yield Row(f"cells below {LOW:g}", next(low), "share", baseline=next(low), target=MOST_LOW, better="lower")
    yield Row("mean coverage, at least", fmean(found), "share", baseline=fmean(plain), target=MEAN[0])
    yield Row("mean coverage, at most", fmean(found), "share", target=MEAN[1], better="lower")
    for trials in TRIALS:
        held = [each for cell, each in zip(cells, found, strict=True) if cell[1] == trials]
        yield Row(f"lowest coverage, {trials} trials", min(held), "share", target=LOWEST)
        yield Row(f"mean coverage, {trials} trials", fmean(held), "share")
    yield from _figures()


def _figures() -> Iterator[Row]:
    """Measure the cells of F1, differences and pass^k, with a fifth of the draws."""
    for figure, cells in groupby(figure_cells(), key=attrgetter("figure")):
        held = [cell.coverage(max(100, DRAWS // 5)) for cell in cells]
        low = sum(each < LOW for each in held) / len(held)
        yield Row(f"lowest coverage, {figure}", min(held), "share", target=LOWEST)
        yield Row(f"cells below {LOW:g}, {figure}", low, "share", target=MOST_LOW, better="lower")
        yield Row(f"mean coverage, {figure}", fmean(held), "share", target=MEAN[0])


def all_cells() -> Iterator[Cell]:
    """Yield every cell; single trials have no correlation."""
    for examples, trials, rate in product(EXAMPLES, TRIALS, RATES):
        for correlation in CORRELATIONS if trials > 1 else (0.0,):
            yield examples, trials, rate, correlation


def coverage(
    examples: int, trials: int, rate: float, correlation: float, draws: int, *, method: Method = clustered_interval
) -> float:
    """Return the share of samples whose interval holds the true rate: exact with one trial, else of seeded draws."""
    if trials == 1:
        sums = {passed: ExampleSums.single(passed, examples) for passed in range(examples + 1)}
        return sum(binomial(examples, passed, rate) for passed in sums if _holds(method(sums[passed]), rate))
    found = samples(examples, beta_binomial(trials, rate, correlation), draws)
    return sum(count for sums, count in found.items() if _holds(method(sums), rate)) / draws


def samples(examples: int, shares: list[float], draws: int, seed: int = 1) -> Counter[ExampleSums]:
    """Draw samples of examples, by the chance that 0, 1, 2, ... of an example's trials pass, and count equal ones."""
    random = Random(seed)
    trials = len(shares) - 1
    # The most likely first: the others then are few, or none.
    order = sorted(range(trials + 1), key=lambda passed: -shares[passed])
    found: Counter[tuple[int, int]] = Counter()
    for _ in range(draws):
        left, rest, passed, squared = examples, 1.0, 0, 0
        for place in order:
            share = min(1.0, shares[place] / rest) if rest > 1e-12 else 1.0
            count = left if place == order[-1] else bisect_right(_cumulated(left, share), random.random())
            passed += count * place
            squared += count * place * place
            left -= count
            rest -= shares[place]
            if not left:
                break
        found[passed, squared] += 1
    whole = examples * trials
    return Counter(
        {
            ExampleSums(examples, whole, passed, squared, trials * passed, trials * whole): count
            for (passed, squared), count in found.items()
        }
    )


def _counting_trials(sums: ExampleSums) -> Interval:
    return wilson(sums.passed, sums.trials)


def _holds(interval: Interval, rate: float) -> bool:
    return interval.low <= rate <= interval.high


@lru_cache(maxsize=20_000)
def _cumulated(trials: int, share: float) -> list[float]:
    """Return the chance that at most 0, 1, 2, ... of so many fall to a share."""
    if not 0 < share < 1:
        return [0.0] * (trials if share else 0) + [2.0]
    sure, other = log(share), log(1 - share)
    logs = (
        lgamma(trials + 1) - lgamma(count + 1) - lgamma(trials - count + 1) + count * sure + (trials - count) * other
        for count in range(trials + 1)
    )
    ends = list(accumulate(map(exp, logs)))
    ends[-1] = 2.0  # above any draw, whatever the sum lost
    return ends
