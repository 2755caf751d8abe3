"""Tell what several trials of each example say, and how small errors compound over steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from reports.rates import ExampleSums, Rate, rate
from toolevals.grading.metrics.rates import Estimate, Interval
from toolevals.grading.metrics.reliability import (
    Tallies,
    VarianceSplit,
    compound,
    compound_interval,
    step_success_needed,
    tallied_pass_at_k,
    tallied_pass_hat_k,
    tallied_pass_hat_value,
    tallied_variance,
)

# Longer chains are better cut: at 0.95 a step, six steps are below three quarters.
MANY_STEPS = 5
# (expected calls, right ones, calls made, outcome, cases)
StepTally = tuple[int, int, int, str, int]


@dataclass(frozen=True, slots=True)
class ChainRow:
    """The scored cases that expect `steps` calls: how many passed as wholes, and what p^k would make of them."""

    steps: int
    cases: Rate
    predicted: float | None
    predicted_interval: Interval | None


@dataclass(frozen=True, slots=True)
class Compounding:
    """`step` is the rate of single expected calls over scored cases, `chains` the cases by their length.

    `longer` of `cases` scored cases took more than MANY_STEPS calls, made by the agent or expected of it.
    """

    step: Rate
    whole: Rate
    chains: tuple[ChainRow, ...]
    longer: int
    cases: int

    @property
    def is_long(self) -> bool:
        """Return whether the agent is one to be told of decomposing."""
        return self.longer > 0


@dataclass(frozen=True, slots=True)
class Calculation:
    """The results of `steps` steps at `success` each, and the success that each needs for the whole to reach `goal`."""

    success: float
    steps: int
    goal: float
    whole: float
    needed: float


def compounding_of(
    tallies: Iterable[StepTally], sums: Mapping[tuple[str, ...], ExampleSums] = MappingProxyType({})
) -> Compounding | None:
    """Return how errors compound over the scored cases of a grading; None without any expected call.

    `sums` are those over the examples: of expected calls under ("step",), of cases under ("whole",), of those that
    expect k calls under ("chain", k).
    Without them each case is an example.
    """
    scored = [row for row in tallies if row[3] in ("passed", "failed")]
    due = sum(expected * count for expected, _, _, _, count in scored)
    if not due:
        return None
    alone: Counter[tuple[int, int]] = Counter()
    for calls, right, _, _, count in scored:
        alone[calls, right] += count
    step = rate(
        sum(right * count for _, right, _, _, count in scored), due, sums.get(("step",)) or ExampleSums.of(alone)
    )
    by_length: dict[int, list[StepTally]] = {}
    for row in scored:
        if row[0]:
            by_length.setdefault(row[0], []).append(row)
    longer = sum(count for expected, _, made, _, count in scored if max(expected, made) > MANY_STEPS)
    chains = tuple(
        _chain(steps, rows, step, sums.get(("chain", str(steps)))) for steps, rows in sorted(by_length.items())
    )
    return Compounding(step, _whole(scored, sums.get(("whole",))), chains, longer, sum(row[4] for row in scored))


def calculation(success: float, steps: int, goal: float) -> Calculation:
    """Return the sum of the calculator. Raises ValueError where a share is not in 0..1 or steps are below 1."""
    return Calculation(success, steps, goal, compound(success, steps), step_success_needed(goal, steps))


def _chain(steps: int, rows: Iterable[StepTally], step: Rate, sums: ExampleSums | None) -> ChainRow:
    whole = _whole(rows, sums)
    if step.value is None or step.low is None or step.high is None:
        return ChainRow(steps, whole, None, None)
    interval = compound_interval(Interval(step.low, step.high), steps)
    return ChainRow(steps, whole, compound(step.value, steps), interval)


def _whole(rows: Iterable[StepTally], sums: ExampleSums | None) -> Rate:
    counted = list(rows)
    return rate(sum(row[4] for row in counted if row[3] == "passed"), sum(row[4] for row in counted), sums)


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
class TrialOutcomes:
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
    """A run of several trials, as a whole and by group; groups with the lowest pass^k first.

    `counted_at` is of groups that may be others by now.
    """

    trials: int
    k: int
    curve: tuple[CurvePoint, ...]
    came_out: TrialOutcomes
    variance: VarianceSplit | None
    groups: tuple[GroupRow, ...]
    counted_at: datetime | None = None

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


def _came_out(whole: Tallies) -> TrialOutcomes:
    counts: Counter[str] = Counter()
    for (scored, passed), count in whole.items():
        how = "unscored" if not scored else "never" if not passed else "always" if passed == scored else "sometimes"
        counts[how] += count
    return TrialOutcomes(counts["always"], counts["sometimes"], counts["never"], counts["unscored"])


def _worst_first(row: GroupRow) -> tuple[float, int, str, str]:
    value = tallied_pass_hat_value(row.tallies, row.k)
    return (2.0 if value is None else value, -row.examples, row.kind, row.name)
