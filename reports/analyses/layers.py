"""Work out where cases are lost: the layers as a funnel, and the depths of a single call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reports.analyses.rates import GOALS, ExampleSums, Rate, rate
from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values.verdict_table import VERDICTS, placed

LAYERS = placed("calls")
# What is asked of a whole transcript, where it has something to ask about.
BESIDE = placed("beside")
# These read prose by rules, which are sometimes wrong: beside the outcome they warn, and do not decide it.
WARNING = tuple(row.name for row in VERDICTS if row.warns)
DEPTHS = placed("depth")
# Column of CaseGrade -> value -> count.
VerdictCounts = Mapping[str, Mapping[str, int]]
# Column of CaseGrade -> sums over examples; empty where each example has one trial.
VerdictSums = Mapping[str, ExampleSums]
NO_SUMS: VerdictSums = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One layer or depth. Unscored and errored are counted next to the rate, never in it."""

    name: str
    rate: Rate
    failed: int
    unscored: int
    errored: int
    goal: float

    @property
    def has_answers(self) -> bool:
        """Return whether any case had something to ask about."""
        return bool(self.rate.total or self.errored)


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """A layer, and how many of the cases that were scored for the first one are still right after it."""

    row: VerdictRow
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Layers:
    """`outcome` over whole cases, the funnel of the layers of calls, what is asked of whole transcripts, the depths.

    `cases` counts every case, scored or not.
    """

    cases: int
    outcome: VerdictRow
    funnel: tuple[FunnelStep, ...]
    beside: tuple[VerdictRow, ...]
    depths: tuple[VerdictRow, ...]

    @property
    def has_beside(self) -> bool:
        """Return whether anything is known beyond the calls."""
        return any(row.has_answers for row in self.beside)

    @property
    def rows(self) -> tuple[VerdictRow, ...]:
        """Outcome, layers and depths."""
        return (self.outcome, *(step.row for step in self.funnel), *self.beside, *self.depths)


def layers_of(counts: VerdictCounts, sums: VerdictSums = NO_SUMS) -> Layers:
    """Return the layers and depths of a grading from its counted verdicts, with the sums over its examples."""
    outcome = _row("outcome", counts, sums)
    # What decides may be another thing than the calls.
    left, funnel = _row(LAYERS[0], counts, sums).rate.total, []
    for name in LAYERS:
        row = _row(name, counts, sums)
        funnel.append(FunnelStep(row, before=left, after=left - row.failed))
        left -= row.failed
    cases = sum(counts.get("outcome", {}).values())
    beside, depths = (tuple(_row(name, counts, sums) for name in names) for names in (BESIDE, DEPTHS))
    return Layers(cases, outcome, tuple(funnel), beside, depths)


@dataclass(frozen=True, slots=True)
class NoisyRow:
    """A row, and of the outcome where wrong gold could put its rate."""

    row: VerdictRow
    noise: Interval | None


def noisy_rows(layers: Layers, noise: LabelNoise) -> list[NoisyRow]:
    """Return the rows of a run, which CSV and API list."""
    bounds = noise.bounds(layers.outcome.rate.value)
    return [NoisyRow(row, bounds if row is layers.outcome else None) for row in layers.rows]


def _row(name: str, counts: VerdictCounts, sums: VerdictSums) -> VerdictRow:
    column = counts.get(name, {})
    passed, failed = column.get("passed", 0), column.get("failed", 0)
    return VerdictRow(
        name=name,
        rate=rate(passed, passed + failed, sums.get(name, sums.get("outcome"))),
        failed=failed,
        unscored=column.get("unscored", 0),
        errored=column.get("errored", 0),
        goal=GOALS[name],
    )
