"""Works out rates over examples that have several trials, with the one interval that rates have everywhere.

Trials of one example are alike: eight trials say less than eight examples do. Sums over the examples tell how alike,
and they are all that the interval needs, so that a rate over a million trials costs as much as one over ten.

Tests whether two rates of different examples differ, where trials of one example are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import erfc, floor, sqrt
from typing import Self

from toolevals.grading.metrics.rates import Interval, student_quantile, student_tail

# A sample of fewer examples cannot tell whether a rate is good or bad.
FEWEST_EXAMPLES = 20
# How much of an example that came out otherwise is added to what is seen: see `design_effect`.
_OTHERWISE = 0.1
NOTHING_KNOWN = Interval(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ExampleSums:
    """Sums over the examples of a rate: with n the scored trials of an example and s those of them that passed.

    `examples` counts those with a scored trial, `trials` is Σn, `passed` Σs, `passed_squared` Σs², `crossed` Σs·n and
    `trials_squared` Σn². Sums of different examples add up.
    """

    examples: int = 0
    trials: int = 0
    passed: int = 0
    passed_squared: int = 0
    crossed: int = 0
    trials_squared: int = 0

    @classmethod
    def single(cls, passed: int, total: int) -> Self:
        """Return the sums of `total` examples with one trial each."""
        return cls(total, total, passed, passed, passed, total)

    @classmethod
    def of(cls, tallies: Mapping[tuple[int, int], int]) -> Self:
        """Return the sums of examples, by (scored trials, passed ones) -> how many examples came out so."""
        rows = [(n, s, count) for (n, s), count in tallies.items() if n]
        return cls(
            sum(count for _, _, count in rows),
            sum(n * count for n, _, count in rows),
            sum(s * count for _, s, count in rows),
            sum(s * s * count for _, s, count in rows),
            sum(s * n * count for n, s, count in rows),
            sum(n * n * count for n, _, count in rows),
        )

    def __add__(self, other: ExampleSums) -> ExampleSums:
        """Return the sums of both, which have no example in common."""
        return ExampleSums(*(one + two for one, two in zip(self.to_row(), other.to_row(), strict=True)))

    def of_part(self, part: ExampleSums) -> ExampleSums:
        """Return the sums of a part of the trials among all of them: it passes where `part` says that it does.

        `part` need only know the examples in which the part occurs, each with all of its trials.
        """
        return replace(self, passed=part.passed, passed_squared=part.passed_squared, crossed=part.crossed)

    def to_row(self) -> tuple[int, ...]:
        """Return the six sums in order: `ExampleSums(*row)` reads them."""
        return (
            self.examples,
            self.trials,
            self.passed,
            self.passed_squared,
            self.crossed,
            self.trials_squared,
        )

    @property
    def most_inflated(self) -> float:
        """The design effect where all trials of an example are alike: Σn²/Σn."""
        return self.trials_squared / self.trials if self.trials else 1.0

    @property
    def degrees(self) -> int:
        """Student's degrees of freedom: one less than examples, which count as (Σn)²/Σn²."""
        return floor(self.trials / self.most_inflated + 1e-9) - 1

    @property
    def design_effect(self) -> float:
        """Return how many times larger the variance of the rate is than of as many single trials, 1 to `most_inflated`.

        The linearised variance of a ratio over that of single trials (L. Kish, "Survey Sampling", 1965, 8.2),
        k/(k - 1)·Σ(s - pn)² / (p(1 - p)Σn), with a tenth of an example added whose trials all came out otherwise than
        expected: m²/10 above and m/10 below the line, where m is `most_inflated`. Where few examples fail, those that
        are seen tell little of how alike trials are, and this share keeps the estimate from being too small. Without
        any variance all trials of an example are taken as alike. The share was chosen by simulated coverage.
        """
        most = self.most_inflated
        if most <= 1 or self.examples < 2:
            return most
        share = self.passed / self.trials
        around = self.passed_squared - 2 * share * self.crossed + share * share * self.trials_squared
        above = around * self.examples / (self.examples - 1) + _OTHERWISE * most * most
        below = share * (1 - share) * self.trials + _OTHERWISE * most
        return min(max(1.0, above / below), most)


def clustered_interval(
    sums: ExampleSums, confidence: float = 0.95, *, design_effect: float | None = None, degrees: int | None = None
) -> Interval:
    """Return the interval of the rate of trials passed, clustered by example; it is never of zero width.

    That of A. Agresti and B. A. Coull ("Approximate is better than 'exact' for interval estimation of binomial
    proportions", The American Statistician 52, 1998) on the effective number of trials N, which is the number of trials
    divided by the design effect, with Student's t in place of the normal quantile: (p' ± t·√(p'(1 - p')/(N + t²)),
    p' = (pN + t²/2)/(N + t²), cut at 0 and 1. t has one degree of freedom less than there are examples, counted as
    (Σn)²/Σn² where they have different numbers of trials (E. L. Korn and B. I. Graubard, "Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data", Survey Methodology 24, 1998,
    take the effective size and t likewise). With fewer than two examples it is 0..1: nothing is known.

    `design_effect` and `degrees` are those of the sums, unless others are given. Raises ValueError on sums that
    contradict each other, and unless 0 < confidence < 1.
    """
    if not 0 <= sums.passed <= sums.trials or sums.examples > sums.trials:
        raise ValueError(f"{sums.passed} of {sums.trials} trials of {sums.examples} examples is not a proportion")
    if degrees is None:
        degrees = sums.degrees
    if degrees < 1:
        student_quantile(1, confidence)
        return NOTHING_KNOWN
    square = student_quantile(degrees, confidence) ** 2
    effective = sums.trials / (design_effect or sums.design_effect)
    whole = effective + square
    middle = (sums.passed / sums.trials * effective + square / 2) / whole
    half = sqrt(square * middle * (1 - middle) / whole)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


@dataclass(frozen=True, slots=True)
class Rate:
    """`passed` of `total` trials of `examples` examples, with the 95 % interval of `clustered_interval`.

    Value and ends are None where there is nothing to count.
    """

    passed: int
    total: int
    value: float | None
    low: float | None
    high: float | None
    examples: int = 0

    @property
    def interval(self) -> Interval | None:
        """Both ends."""
        return None if self.low is None or self.high is None else Interval(self.low, self.high)

    @property
    def tells(self) -> bool:
        """Return whether the examples are enough to say that the rate is good or bad."""
        return self.examples >= FEWEST_EXAMPLES


def rate(passed: int, total: int, whole: ExampleSums | None = None) -> Rate:
    """Return the rate of `passed` among `total`, each an example of its own.

    With `whole` they are trials of examples, a part of those that `whole` is summed over: as many trials an example as
    there. Where they are all of `whole` (see `ExampleSums.of_part`), its sums are taken as they are. Else nothing tells
    how alike the trials of the part are, and all trials of an example are taken as alike: trials of a part can be more
    alike than those of the whole (one example that fails in the same way each time), so the design effect of the whole
    would be too small.
    """
    if not total:
        return Rate(passed, total, None, None, None)
    if whole is None or whole.trials_squared <= whole.trials:
        return _rate(ExampleSums.single(passed, total), clustered_interval(ExampleSums.single(passed, total)))
    if (passed, total) == (whole.passed, whole.trials):
        return rate_of(whole)
    examples = max(1, floor(total * whole.examples / whole.trials + 1e-9))
    degrees = floor(total / whole.most_inflated + 1e-9) - 1
    part = ExampleSums(examples, total, passed)
    return _rate(part, clustered_interval(part, design_effect=whole.most_inflated, degrees=degrees))


def rate_of(sums: ExampleSums) -> Rate:
    """Return the rate that sums over examples tell."""
    return _rate(sums, clustered_interval(sums)) if sums.trials else Rate(sums.passed, 0, None, None, None)


def f1_sums(correct: int, support: int, predicted: int) -> ExampleSums:
    """Return the sums of F1 over cases of one trial and one call, of which an example is one.

    F1 = 2·correct/(support + predicted) is a ratio as a rate is one: a case that is expected and called counts twice
    above and twice below, one that is either counts once below. Raises ValueError on counts that contradict each other.
    """
    only_one = support + predicted - 2 * correct
    if not 0 <= correct <= min(support, predicted):
        raise ValueError("the counts contradict each other")
    return ExampleSums.of({(2, 2): correct, (1, 0): only_one})


def summed(tallies: Sequence[tuple[int, int]]) -> ExampleSums:
    """Return the sums of examples, each given as (scored trials, passed ones)."""
    counts: dict[tuple[int, int], int] = {}
    for tally in tallies:
        counts[tally] = counts.get(tally, 0) + 1
    return ExampleSums.of(counts)


def _rate(sums: ExampleSums, interval: Interval) -> Rate:
    share = sums.passed / sums.trials
    # Floats may miss the share by a hair, never by more.
    return Rate(sums.passed, sums.trials, share, min(interval.low, share), max(interval.high, share), sums.examples)


# From here on Student's distribution is the normal for what is tested.
_NORMAL_FROM = 1_000


def rates_differ(before: ExampleSums, after: ExampleSums) -> float | None:
    """Return the two-sided p-value of two rates being one, None where either has too few examples to tell.

    The score test of two proportions with Yates' correction, on effective numbers of trials: trials over their design
    effect (J. N. K. Rao and A. J. Scott, "A simple method for the analysis of clustered binary data", Biometrics 48,
    1992). What is left of z is compared with Student's t, whose degrees are those of both samples.
    """
    if min(before.examples, after.examples) < FEWEST_EXAMPLES or min(before.degrees, after.degrees) < 1:
        return None
    one, two = (each.trials / _effect(each) for each in (before, after))
    first, second = before.passed / before.trials, after.passed / after.trials
    pooled = (first * one + second * two) / (one + two)
    spread = pooled * (1 - pooled) * (1 / one + 1 / two)
    apart = abs(first - second) - (1 / one + 1 / two) / 2
    if spread <= 0 or apart <= 0:
        return 1.0
    z, degrees = apart / sqrt(spread), before.degrees + after.degrees
    return erfc(z / sqrt(2)) if degrees >= _NORMAL_FROM else student_tail(degrees, z)


def _effect(sums: ExampleSums) -> float:
    """Return the design effect; where all came out alike, trials of one example are taken as alike."""
    return sums.design_effect if 0 < sums.passed < sums.trials else max(1.0, sums.most_inflated)
