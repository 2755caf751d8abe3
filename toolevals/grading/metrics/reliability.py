"""Tell what several trials of one example say: would any of k pass, would all, and where the variance comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import comb, fsum
from statistics import fmean

from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.metrics.means import mean_interval
from toolevals.grading.metrics.rates import Estimate, Interval

# (scored trials, those that passed) of an example -> how many examples came out so: all that the figures depend on.
Tallies = Mapping[tuple[int, int], int]


def pass_at_k(trials: int, passed: int, k: int) -> float | None:
    """Return the unbiased estimate that at least one of k trials passes: 1 - C(n-c, k)/C(n, k).

    None where fewer than k trials were made. Source: M. Chen et al., "Evaluating large language models trained on code"
    (2021), 2.1. Raises ValueError unless 0 <= passed <= trials and k >= 1.
    """
    _check(trials, passed, k)
    return None if trials < k else 1 - comb(trials - passed, k) / comb(trials, k)


def pass_hat_k(trials: int, passed: int, k: int) -> float | None:
    """Return the unbiased estimate that all of k trials pass, pass^k: C(c, k)/C(n, k).

    None where fewer than k trials were made. Source: S. Yao et al., "τ-bench" (2024), 3.2. Raises as `pass_at_k`.
    """
    _check(trials, passed, k)
    return None if trials < k else comb(passed, k) / comb(trials, k)


def tallied_pass_at_k(tallies: Tallies, k: int, *, confidence: float = 0.95) -> Estimate:
    """Return pass@k as the mean over examples.

    Examples with fewer than k scored trials are left out; `count` says how many remain. The interval resamples
    examples with all their trials. Raises ValueError unless k >= 1.
    """
    return _mean_over_examples(tallies, k, pass_at_k, confidence)


def tallied_pass_hat_k(tallies: Tallies, k: int, *, confidence: float = 0.95) -> Estimate:
    """Return pass^k as the mean over examples; in everything else as `tallied_pass_at_k`."""
    return _mean_over_examples(tallies, k, pass_hat_k, confidence)


def tallied_pass_hat_value(tallies: Tallies, k: int) -> float | None:
    """Return the value of `tallied_pass_hat_k` alone: nearly all of its time goes into the interval."""
    _check(0, 0, k)
    values = _valued(tallies, k, pass_hat_k)
    return fmean(values.keys(), values.values()) if values else None


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """The variance of one trial's outcome (0 or 1): how much examples differ, and how much trials of one example do.

    `consistency` is the between share (the intraclass correlation): 1 where an example always comes out in the same
    way, 0 where examples are alike and all is chance. None without any variance. `count` examples have two scored
    trials or more.
    """

    between: float
    within: float
    consistency: float | None
    count: int


def tallied_variance(tallies: Tallies) -> VarianceSplit | None:
    """Return the split of the variance between and within examples; None with fewer than two usable examples.

    Of an example with c of n passed, the within variance is estimated without bias by c(n - c)/(n(n - 1)); `within` is
    its mean. `between` is the sample variance of the examples' means less the mean of (within variance)/n, and
    at least 0: the one-way random effects model (S. R. Searle, G. Casella, C. E. McCulloch, "Variance Components",
    1992, 3). Examples with one scored trial are left out.
    """
    rows = [(n, c, count) for (n, c), count in tallies.items() if n >= 2 and count]
    weights = [count for _, _, count in rows]
    examples = sum(weights)
    if examples < 2:
        return None
    inside = [c * (n - c) / (n * (n - 1)) for n, c, _ in rows]
    within = fmean(inside, weights)
    chance = fmean([each / n for each, (n, _, _) in zip(inside, rows, strict=True)], weights)
    means = [c / n for n, c, _ in rows]
    middle = fmean(means, weights)
    spread = fsum(count * (mean - middle) ** 2 for mean, count in zip(means, weights, strict=True)) / (examples - 1)
    between = max(0.0, spread - chance)
    whole = between + within
    return VarianceSplit(between, within, between / whole if whole else None, examples)


def compound(success: float, steps: int) -> float:
    """Return the chance that `steps` independent steps all succeed: p^k. 0.95^8 is about .66, 0.99^8 about .92.

    Raises ValueError unless 0 <= success <= 1 and steps >= 0.
    """
    if not 0 <= success <= 1 or steps < 0:
        raise ValueError("a success rate is between 0 and 1, and steps are not negative")
    return success**steps


def compound_interval(interval: Interval, steps: int) -> Interval:
    """Return the interval of p^k from that of p: the power rises with p, so that the ends carry over."""
    return Interval(compound(interval.low, steps), compound(interval.high, steps))


def step_success_needed(whole: float, steps: int) -> float:
    """Return the success that each of `steps` independent steps needs for all to succeed with chance `whole`: w^(1/k).

    Raises ValueError unless 0 <= whole <= 1 and steps >= 1.
    """
    if not 0 <= whole <= 1 or steps < 1:
        raise ValueError("a success rate is between 0 and 1, and there is at least one step")
    return float(whole ** (1 / steps))


def _mean_over_examples(
    tallies: Tallies, k: int, figure: Callable[[int, int, int], float | None], confidence: float
) -> Estimate:
    _check(0, 0, k)
    values = _valued(tallies, k, figure)
    if not values:
        return Estimate.undefined(f"no example has {k} scored trials")
    mean = fmean(values.keys(), values.values())
    if k == 1 and len({n for (n, _), count in tallies.items() if n and count}) == 1:
        # Of as many trials each it is the rate of trials, with the interval that this has everywhere.
        return Estimate(mean, clustered_interval(ExampleSums.of(tallies), confidence), values.total())
    return Estimate(mean, _kept_interval(tuple(values.items()), confidence), values.total())


def _valued(tallies: Tallies, k: int, figure: Callable[[int, int, int], float | None]) -> Counter[float]:
    """Return how many examples have each value of a figure."""
    values: Counter[float] = Counter()
    for (n, c), count in tallies.items():
        if count and (value := figure(n, c, k)) is not None:
            values[value] += count
    return values


@lru_cache(maxsize=4096)
def _kept_interval(values: tuple[tuple[float, int], ...], confidence: float) -> Interval | None:
    return mean_interval(dict(values), confidence=confidence)


def _check(trials: int, passed: int, k: int) -> None:
    if not 0 <= passed <= trials or k < 1:
        raise ValueError(f"{passed} of {trials} trials cannot pass, or k = {k} is below 1")
