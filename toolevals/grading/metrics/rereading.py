"""Corrects a score by people who read some of its passed and some of its failed cases again, drawn by chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import Final

from toolevals.grading.metrics.clustered import NOTHING_KNOWN, ExampleSums, Rate
from toolevals.grading.metrics.rates import Interval, wilson

# Of fewer cases Wilson's interval covers too rarely to be combined.
_FEWEST: Final = 3


@dataclass(frozen=True, slots=True)
class CorrectedScore:
    """The share of scored cases in which the agent was right, 0..1, with its 95 % interval.

    `passed` is the share judged right among the passed cases that were read, `failed` among the failed ones. The value
    is None where it is unknown, and `reason` says why in a few words.
    """

    value: float | None
    low: float | None
    high: float | None
    stated: Rate
    passed: Rate
    failed: Rate
    reason: str = ""


def corrected_score(stated: Rate, passed: ExampleSums, failed: ExampleSums) -> CorrectedScore:
    """Return the score that a random re-reading of passed and of failed cases speaks for.

    `stated` is the score as it was graded, p. `passed` sums over the passed cases that were read, `failed` over the
    failed ones: of each example one case, with the example's number of scored trials as its trials, all of them passed
    where people judged the case right, none where they judged it wrong. With a and b the shares judged right, the
    estimate is pa + (1 - p)b: double sampling for stratification (W. G. Cochran, "Sampling Techniques", 3rd edition,
    1977, 12.2; A. Tenenbein, "A double sampling scheme for estimating from binomial data with misclassifications", JASA
    65, 1970, estimates a rate so). Nothing is assumed about why gold and agent err.

    The interval is that of G. Y. Zou and A. Donner ("Construction of confidence limits about effect measures: a general
    approach", Statistics in Medicine 27, 2008; R. G. Newcombe calls it MOVER): p, a and b each have their own interval,
    and the distance from the estimate to an end is the root of the summed squares of their distances, weighted by
    a - b, p and 1 - p. Those of a and b are `wilson`'s on the effective number of examples that were read, (Σn)²/Σn²
    with n the scored trials of each: never of zero width, and 0..1 where fewer than three were read. It speaks of
    examples like these, as the score's own interval does, so without a finite-population correction: where every
    case was read, what is left is the uncertainty of a rate over all examples.

    Unknown where nothing was scored, and where no case of a verdict was read that the run has. Of a verdict that the
    run does not have any share may be right.
    """
    shares = _share(passed), _share(failed)
    reason = _unknown(stated, passed, failed)
    if reason or stated.value is None or stated.interval is None:
        return CorrectedScore(None, None, None, stated, *shares, reason)
    score = stated.value
    right, wrong = (_known(share) for share in shares)
    value = score * right[0] + (1 - score) * wrong[0]
    low = value - _distance(score, stated.interval, right, wrong, upwards=False)
    high = value + _distance(score, stated.interval, right, wrong, upwards=True)
    return CorrectedScore(value, max(0.0, low), min(1.0, high), stated, *shares)


def _unknown(stated: Rate, passed: ExampleSums, failed: ExampleSums) -> str:
    if not stated.total:
        return "nothing is scored"
    if stated.passed and not passed.trials:
        return "no passed case was judged"
    return "no failed case was judged" if stated.passed < stated.total and not failed.trials else ""


def _share(sums: ExampleSums) -> Rate:
    """Return the share judged right among cases that were read, one of each example."""
    if not sums.trials:
        return Rate(0, 0, None, None, None)
    value = sums.passed / sums.trials
    # One case stands for all trials of its example.
    alike = sums.most_inflated
    found = NOTHING_KNOWN if sums.examples < _FEWEST else wilson(sums.passed / alike, sums.trials / alike)
    low, high = min(found.low, value), max(found.high, value)
    return Rate(sums.passed, sums.trials, value, low, high, sums.examples)


def _known(share: Rate) -> tuple[float, Interval]:
    """Return a share with its interval; that of a verdict without cases is unknown and has no weight in the value."""
    if share.value is None or share.interval is None:
        return 0.5, NOTHING_KNOWN
    return share.value, share.interval


def _distance(
    score: float, interval: Interval, right: tuple[float, Interval], wrong: tuple[float, Interval], *, upwards: bool
) -> float:
    """Return how far the estimate's end is from it."""
    rises, falls = interval.high - score, score - interval.low
    # A share of which nothing is known is whichever moves the end furthest.
    slopes = [one - other for one in _possible(right) for other in _possible(wrong)]
    moved = max(abs(slope) * (rises if upwards == (slope >= 0) else falls) for slope in slopes)
    return hypot(moved, score * _side(right, upwards=upwards), (1 - score) * _side(wrong, upwards=upwards))


def _possible(share: tuple[float, Interval]) -> tuple[float, ...]:
    value, interval = share
    return (0.0, 1.0) if interval == NOTHING_KNOWN else (value,)


def _side(share: tuple[float, Interval], *, upwards: bool) -> float:
    value, interval = share
    return interval.high - value if upwards else value - interval.low
