"""Measure a judge on cases that people have labelled, and correct rates for its errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, sqrt
from typing import Self

from toolevals.grading.metrics.agreement import clustered_kappa, percent_agreement
from toolevals.grading.metrics.clustered import NOTHING_KNOWN, ExampleSums
from toolevals.grading.metrics.rates import Estimate, Interval, normal_quantile, student_quantile, wilson


@dataclass(frozen=True, slots=True)
class JudgeTable:
    """A judge's verdicts next to people's on the same cases: how many of each kind.

    `both_passed` and `both_failed` are agreements, `only_judge` passed with the judge alone, `only_human` with people
    alone. Raises ValueError on a negative count.
    """

    both_passed: int
    only_judge: int
    only_human: int
    both_failed: int

    def __post_init__(self) -> None:
        if min(self.both_passed, self.only_judge, self.only_human, self.both_failed) < 0:
            raise ValueError("a count is negative")

    @classmethod
    def of_cases(cls, cases: Iterable[tuple[bool | None, bool | None]]) -> Self:
        """Return the table of (judge passed, human passed) pairs; a pair with a None is left out."""
        known = [(bool(judge), bool(human)) for judge, human in cases if judge is not None and human is not None]
        return cls(
            known.count((True, True)),
            known.count((True, False)),
            known.count((False, True)),
            known.count((False, False)),
        )

    @property
    def sensitivity(self) -> Estimate:
        """The share of what people passed that the judge passed, with Wilson's interval."""
        return _share(self.both_passed, self.both_passed + self.only_human, "people passed no case")

    @property
    def specificity(self) -> Estimate:
        """The share of what people failed that the judge failed, with Wilson's interval."""
        return _share(self.both_failed, self.both_failed + self.only_judge, "people failed no case")

    @property
    def agreement(self) -> Estimate:
        """The share of cases with one verdict, with Wilson's interval."""
        return percent_agreement(self._ratings)

    @property
    def kappa(self) -> Estimate:
        """Cohen's kappa of judge and people, of one trial of each example."""
        return clustered_kappa(self._ratings)

    @property
    def _ratings(self) -> dict[tuple[bool, bool], int]:
        return {
            (True, True): self.both_passed,
            (True, False): self.only_judge,
            (False, True): self.only_human,
            (False, False): self.both_failed,
        }


def rogan_gladen(
    passed: int, total: int, table: JudgeTable, *, sums: ExampleSums | None = None, confidence: float = 0.95
) -> Estimate:
    """Return the true pass rate behind a judge that passed `passed` of `total` cases: (p + sp - 1)/(se + sp - 1).

    se and sp are the judge's sensitivity and specificity on the cases of `table`, which people labelled. Source: W. J.
    Rogan and B. Gladen, "Estimating prevalence from the results of a screening test", American Journal of Epidemiology
    107 (1978). The value is held in 0..1. The interval carries the uncertainty of p, se and sp: Z. Lang and J.
    Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and specificity",
    Preventive Veterinary Medicine 113 (2014), held in 0..1. With z, n' = total + z², p' = (passed + z²/2)/n', se' and
    sp' with one case added to each side, π' = (p' + sp' - 1)/(se' + sp' - 1) it is π' + d ± z·√(p'(1-p')/n' +
    π'²·se'(1-se')/n_se' + (1-π')²·sp'(1-sp')/n_sp')/(se' + sp' - 1), d = 2z²(π'·se'(1-se')/n_se' -
    (1-π')·sp'(1-sp')/n_sp'). Of several trials `sums` are those over the examples, of these cases or of more that are
    as alike: `passed` and `total` are then divided by the design effect, and z is Student's t of one degree of freedom
    less than examples; with fewer than two examples the interval is 0..1. Undefined where nothing was judged, where
    people passed or failed no case, and where se + sp <= 1: such a judge says nothing. Raises ValueError unless 0 <=
    passed <= total and 0 < confidence < 1.
    """
    if not 0 <= passed <= total:
        raise ValueError(f"{passed} of {total} is not a proportion")
    normal_quantile(confidence)
    sensitivity, specificity = table.sensitivity, table.specificity
    if not total:
        return Estimate.undefined("nothing was judged")
    for side in (sensitivity, specificity):
        if side.value is None:
            return Estimate.undefined(f"{side.reason}, so the judge's errors are not known", total)
    youden = (sensitivity.value or 0.0) + (specificity.value or 0.0) - 1
    if youden <= 0:
        return Estimate.undefined(
            "the judge is no better than chance: sensitivity and specificity sum to 1 or less", total
        )
    value = min(1.0, max(0.0, (passed / total + (specificity.value or 0.0) - 1) / youden))
    effect, quantile = 1.0, normal_quantile(confidence)
    if sums and sums.most_inflated > 1:
        degrees = floor(total / sums.most_inflated + 1e-9) - 1
        if degrees < 1:
            return Estimate(value, NOTHING_KNOWN, total)
        effect, quantile = sums.design_effect, student_quantile(degrees, confidence)
    return Estimate(value, _lang_reiczigel(passed / effect, total / effect, table, value, quantile), total)


def _lang_reiczigel(passed: float, total: float, table: JudgeTable, value: float, z: float) -> Interval:
    cases, positives, negatives = (
        total + z * z,
        table.both_passed + table.only_human + 2,
        table.both_failed + table.only_judge + 2,
    )
    share = (passed + z * z / 2) / cases
    sensitivity, specificity = (table.both_passed + 1) / positives, (table.both_failed + 1) / negatives
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return Interval(0.0, 1.0)
    true = (share + specificity - 1) / youden
    of_sensitivity = sensitivity * (1 - sensitivity) / positives
    of_specificity = specificity * (1 - specificity) / negatives
    shift = 2 * z * z * (true * of_sensitivity - (1 - true) * of_specificity)
    spread = share * (1 - share) / cases + true**2 * of_sensitivity + (1 - true) ** 2 * of_specificity
    half = z * sqrt(spread) / youden
    low, high = max(0.0, true + shift - half), min(1.0, true + shift + half)
    return Interval(min(low, value), max(high, value))


def _share(part: int, whole: int, reason: str) -> Estimate:
    return Estimate(part / whole, wilson(part, whole), whole) if whole else Estimate.undefined(reason)
