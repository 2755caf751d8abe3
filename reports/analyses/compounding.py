"""Work out how small errors compound: the rate of a chain of k steps at p a step, next to the measured one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reports.analyses.rates import ExampleSums, Rate, rate
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.metrics.reliability import compound, compound_interval, step_success_needed

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
