"""Tell what several trials of each example say: would any of k pass, would all, and where the variance comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from toolevals.grading.metrics.rates import Estimate
from toolevals.grading.metrics.reliability import (
    Tallies,
    VarianceSplit,
    tallied_pass_at_k,
    tallied_pass_hat_k,
    tallied_pass_hat_value,
    tallied_variance,
)

# Every k up to here is drawn; beyond it these, and the number of trials.
EVERY_K = 8
SOME_K = (12, 16, 24, 32, 48)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """pass@k and pass^k over the examples with at least k scored trials: of the run, or of a group by kind and name."""

    k: int
    at: Estimate
    hat: Estimate
    kind: str = "run"
    name: str = ""

    @property
    def examples(self) -> int:
        return self.hat.count


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The examples of one tool or of one value of a stratum: the rate of single trials, pass@k and pass^k.

    Worked out when they are asked for: there may be hundreds of groups, and a page shows a few.
    """

    kind: str
    name: str
    tallies: Tallies
    k: int

    @property
    def examples(self) -> int:
        """Examples with a scored trial."""
        return sum(count for (scored, _), count in self.tallies.items() if scored)

    @property
    def one(self) -> Estimate:
        return tallied_pass_at_k(self.tallies, 1)

    @property
    def at(self) -> Estimate:
        return tallied_pass_at_k(self.tallies, self.k)

    @property
    def hat(self) -> Estimate:
        return tallied_pass_hat_k(self.tallies, self.k)


@dataclass(frozen=True, slots=True)
class CameOut:
    """The number of examples whose scored trials passed always, sometimes, never; `unscored` have none."""

    always: int
    sometimes: int
    never: int
    unscored: int

    @property
    def scored(self) -> int:
        return self.always + self.sometimes + self.never

    @property
    def examples(self) -> int:
        return self.scored + self.unscored


@dataclass(frozen=True, slots=True)
class Reliability:
    """A run of several trials, as a whole and by group; groups with the lowest pass^k first."""

    trials: int
    k: int
    curve: tuple[CurvePoint, ...]
    came_out: CameOut
    variance: VarianceSplit | None
    groups: tuple[GroupRow, ...]

    def point(self, k: int) -> CurvePoint | None:
        """Return the curve at k; None where it has no example."""
        return next((point for point in self.curve if point.k == k), None)

    @property
    def one(self) -> CurvePoint | None:
        return self.point(1)

    @property
    def chosen(self) -> CurvePoint | None:
        return self.point(self.k)

    @property
    def rows(self) -> tuple[CurvePoint, ...]:
        """The whole curve, then each group at k, as the file lists them."""
        return (*self.curve, *(CurvePoint(self.k, row.at, row.hat, row.kind, row.name) for row in self.groups))

    def of_kind(self, *kinds: str) -> tuple[GroupRow, ...]:
        """Return the groups of some kinds."""
        return tuple(row for row in self.groups if row.kind in kinds)


def reliability_of(
    whole: Tallies, groups: Mapping[str, Mapping[str, Tallies]], *, trials: int, k: int | None = None
) -> Reliability:
    """Return the reliability of a grading of `trials` trials, from tallies of all examples and by kind -> name.

    `k` is what groups are told by, by default all trials. What has no name (no stratum, any call) is no group.
    """
    chosen = min(max(k or trials, 1), trials)
    rows = [
        GroupRow(kind, name, tallies, chosen)
        for kind, named in groups.items()
        for name, tallies in named.items()
        if name
    ]
    return Reliability(
        trials=trials,
        k=chosen,
        curve=_curve(whole, trials, chosen),
        came_out=_came_out(whole),
        variance=tallied_variance(whole),
        groups=tuple(sorted(rows, key=_worst_first)),
    )


def drawn_ks(trials: int) -> tuple[int, ...]:
    """Return the k that a curve of so many trials shows."""
    return (*range(1, min(trials, EVERY_K) + 1), *(k for k in SOME_K if k < trials), *([trials] * (trials > EVERY_K)))


def _curve(whole: Tallies, trials: int, chosen: int) -> tuple[CurvePoint, ...]:
    ks = sorted({*drawn_ks(trials), chosen})
    points = (CurvePoint(k, tallied_pass_at_k(whole, k), tallied_pass_hat_k(whole, k)) for k in ks)
    return tuple(point for point in points if point.examples)


def _came_out(whole: Tallies) -> CameOut:
    counts: Counter[str] = Counter()
    for (scored, passed), count in whole.items():
        how = "unscored" if not scored else "never" if not passed else "always" if passed == scored else "sometimes"
        counts[how] += count
    return CameOut(counts["always"], counts["sometimes"], counts["never"], counts["unscored"])


def _worst_first(row: GroupRow) -> tuple[float, int, str, str]:
    value = tallied_pass_hat_value(row.tallies, row.k)
    return (2.0 if value is None else value, -row.examples, row.kind, row.name)
