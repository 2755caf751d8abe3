"""Show the layers of the newest run on a project's first page: rate, gate, trend and last change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reports.compare.analysis import RunComparison
from reports.compare.layers import LayerDelta
from reports.compare.queries import MOST_COMPARED, TwoRuns, candidates_for, default_baseline, two_runs
from reports.gates.page import NewestGate, newest_gate, verdict_of
from reports.run.analysis import Layers, VerdictRow
from reports.trends.analysis import RunFacts, Series, Trend
from toolevals.grading.gates.results import Check
from toolevals.grading.values.verdict_table import VERDICTS
from toolevals.presentation.sparks import BrokenSpark, broken_spark
from toolevals.runs.models import Run

# What the page follows: what decides, and the four layers.
FOLLOWED: Final = ("outcome", *(row.name for row in VERDICTS if row.letter))
MOST_RUNS: Final = 9
MOST_CANDIDATES: Final = 50


@dataclass(frozen=True, slots=True)
class LayerLine:
    """One layer of the newest run. `check` is the gate's condition on it, `delta` the change since `before`."""

    row: VerdictRow
    spark: BrokenSpark | None
    runs: Sequence[int]
    check: Check | None
    delta: LayerDelta | None


@dataclass(frozen=True, slots=True)
class RunTick:
    """One run on the axis under the trends: what is new in it, and whether the newest run's outcome is not joined."""

    number: int
    changed: str
    is_newest: bool


@dataclass(frozen=True, slots=True)
class LayerTable:
    """The lines, the runs under them, the gate that the run was checked by, and the run that it is compared with."""

    lines: tuple[LayerLine, ...]
    ticks: tuple[RunTick, ...]
    gate: NewestGate | None
    before: Run | None
    comparison: RunComparison | None

    @property
    def outcome(self) -> LayerDelta | None:
        """The change of what decides."""
        return self.comparison.layer("outcome") if self.comparison else None


def layer_table(run: Run, layers: Layers, facts: Sequence[RunFacts], trend: Trend) -> LayerTable:
    """Return the table of a graded run with its trend over `facts`, its runs oldest first."""
    gate = newest_gate(run, run.grading_id)
    checks = {verdict_of(check.metric): check for check in reversed(gate.checks if gate else ()) if check.metric}
    pair = _compared(run)
    comparison = pair.comparison if pair else None
    deltas = {delta.name: delta for delta in comparison.layers} if comparison else {}
    return LayerTable(
        tuple(_lines(layers, facts, trend, checks, deltas)),
        tuple(RunTick(fact.number, ", ".join(fact.changes[:2]), fact is facts[-1]) for fact in facts),
        gate,
        pair.before if pair else None,
        comparison,
    )


def _lines(
    layers: Layers,
    facts: Sequence[RunFacts],
    trend: Trend,
    checks: Mapping[str, Check],
    deltas: Mapping[str, LayerDelta],
) -> list[LayerLine]:
    series = {each.name: each for each in trend.series}
    shown = {row.name: row for row in layers.rows}
    numbers = [each.number for each in facts]
    least = min((_lowest(series[name]) for name in FOLLOWED if name in series), default=0.0)
    return [
        LayerLine(
            shown[name],
            _spark(series[name], facts, least) if name in series and len(facts) > 1 else None,
            numbers,
            checks.get(name),
            deltas.get(name),
        )
        for name in FOLLOWED
        if shown[name].has_answers
    ]


def _spark(series: Series, facts: Sequence[RunFacts], least: float) -> BrokenSpark:
    places = {each.number: place for place, each in enumerate(facts)}
    segments = [
        [
            (places[row.run.number], rate.value or 0.0, rate.low or 0.0, rate.high or 0.0)
            for row in segment
            for rate in [row.rates[series.name]]
        ]
        for segment in series.segments
    ]
    changes = [place for place, each in enumerate(facts) if place and each.changes]
    return broken_spark(segments, goal=series.goal, width=len(facts), changes=changes, least=least)


def _lowest(series: Series) -> float:
    return min(series.goal, *(row.rates[series.name].low or 0.0 for row in series.rows))


def _compared(run: Run) -> TwoRuns | None:
    """Return the run with the one before it, None where there is none to compare with or too much to do it here."""
    if run.size > MOST_COMPARED:
        return None
    before = default_baseline(run, candidates_for(run, MOST_CANDIDATES))
    if before is None or before.size > MOST_COMPARED:
        return None
    pair = two_runs(Run.objects.filter(project=run.project_id), before.number, run.number)
    return None if pair is None or pair.refusal else pair
