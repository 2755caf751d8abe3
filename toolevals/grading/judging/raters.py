"""Compares a judge with people who rated the same cases: what most of them say, and how far the judge agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import Literal

from toolevals.grading.judging.rubrics import Scale
from toolevals.grading.metrics.agreement import fleiss_kappa, percent_agreement
from toolevals.grading.metrics.calibration import JudgeTable, rogan_gladen
from toolevals.grading.metrics.clustered import ExampleSums, rate
from toolevals.grading.metrics.rates import Estimate, Interval

# What people say of a case: as most of them, as many this way as that, or no one could tell.
PeopleSay = Literal["passed", "failed", "tied", "unrated"]
PEOPLE: tuple[PeopleSay, ...] = ("passed", "failed", "tied", "unrated")
JUDGE = ("passed", "failed")


@dataclass(frozen=True, slots=True)
class RatedCase:
    """One case: the judge's value, 0 to 1, and people's by who they are; None where someone could not tell."""

    value: float
    ratings: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RaterFigures:
    """One rater: how many cases they rated, and how often they say what the judge says, and what most others say."""

    rater: str
    rated: int
    with_judge: Estimate
    with_others: Estimate


@dataclass(frozen=True, slots=True)
class Comparison:
    """A judge next to people. `cells` counts (judge, people) over all cases; no figure has ties and unrated cases."""

    table: JudgeTable
    cells: Mapping[tuple[str, PeopleSay], int]
    # (judge's value, the value that most people gave) over the cases where one value leads.
    values: Mapping[tuple[float, float], int]
    # People among themselves: the share of pairs that agree, and Fleiss' kappa.
    people_agreement: Estimate
    people_kappa: Estimate
    raters: tuple[RaterFigures, ...]

    @property
    def compared(self) -> int:
        """On how many cases judge and people are compared."""
        return sum(count for (_, people), count in self.cells.items() if people in JUDGE)


def people_say(values: Iterable[float | None], scale: Scale) -> PeopleSay:
    """Return what most of those who could tell say: whether the case passes."""
    known = [scale.passes(value) for value in values if value is not None]
    passed = sum(known)
    if not known:
        return "unrated"
    if 2 * passed == len(known):
        return "tied"
    return "passed" if 2 * passed > len(known) else "failed"


def compare(cases: Sequence[RatedCase], scale: Scale) -> Comparison:
    """Return how a judge stands to people on these cases."""
    said = [
        ("passed" if scale.passes(case.value) else "failed", people_say(case.ratings.values(), scale)) for case in cases
    ]
    known = [(judge == "passed", people == "passed") for judge, people in said if people in JUDGE]
    raters = sorted({rater for case in cases for rater in case.ratings})
    passes = [{rater: _passes(value, scale) for rater, value in case.ratings.items()} for case in cases]
    units = Counter(tuple(unit.get(rater) for rater in raters) for unit in passes)
    return Comparison(
        table=JudgeTable.of_cases(known),
        cells=Counter(said),
        values=Counter(
            (case.value, leading) for case in cases if (leading := _leading(case.ratings.values())) is not None
        ),
        people_agreement=percent_agreement(units),
        people_kappa=fleiss_kappa(units),
        raters=tuple(_rater(rater, cases, scale) for rater in raters),
    )


def corrected_rate(
    passed: int, failed: int, table: JudgeTable, *, settled: int = 0, sums: ExampleSums | None = None
) -> Estimate:
    """Return the true pass rate behind a judge's, by what people said of a sample of its verdicts.

    `passed` and `failed` count a judge's verdicts, `settled` how many of the passed rules settled without asking it:
    those are right, and the others are corrected as `rogan_gladen` does. With w the settled share and r the corrected
    rate of the others the value is w + (1 - w)r. Its interval puts those of w (that of rates) and r together: how far
    each would move the value by itself, squared, added, and the root taken (MOVER; G. Y. Zou and A. Donner,
    "Construction of confidence limits about effect measures", Statistics in Medicine 27, 2008). `sums` are those of the
    verdicts over the examples, where these have several trials. Undefined as `rogan_gladen`. Raises ValueError where
    more are settled than passed.
    """
    total = passed + failed
    if not settled:
        return rogan_gladen(passed, total, table, sums=sums)
    ruled = rate(settled, total, sums)
    if settled == total:
        return Estimate(1.0, ruled.interval, total)
    asked = rogan_gladen(passed - settled, total - settled, table, sums=sums)
    if asked.value is None or asked.interval is None or ruled.value is None or ruled.interval is None:
        return asked
    value = ruled.value + (1 - ruled.value) * asked.value
    low, high = (
        hypot((1 - asked.value) * (share - ruled.value), (1 - ruled.value) * (corrected - asked.value))
        for share, corrected in ((ruled.interval.low, asked.interval.low), (ruled.interval.high, asked.interval.high))
    )
    return Estimate(value, Interval(max(0.0, value - low), min(1.0, value + high)), total)


def _rater(rater: str, cases: Sequence[RatedCase], scale: Scale) -> RaterFigures:
    judge: Counter[tuple[bool | None, bool | None]] = Counter()
    others: Counter[tuple[bool | None, bool | None]] = Counter()
    for case in cases:
        if rater not in case.ratings:
            continue
        own = _passes(case.ratings[rater], scale)
        rest = people_say((value for name, value in case.ratings.items() if name != rater), scale)
        judge[own, scale.passes(case.value)] += 1
        others[own, rest == "passed" if rest in JUDGE else None] += 1
    return RaterFigures(rater, judge.total(), percent_agreement(judge), percent_agreement(others))


def _passes(value: float | None, scale: Scale) -> bool | None:
    return None if value is None else scale.passes(value)


def _leading(values: Iterable[float | None]) -> float | None:
    """Return the value that more gave than any other; None where none leads."""
    ranked = Counter(value for value in values if value is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
