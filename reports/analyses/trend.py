"""Rates over the runs of an experiment. Only runs on the same part of the same dataset version are joined by a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reports.analyses.layers import VerdictCounts, layers_of
from reports.analyses.rates import GOALS, TOOL_GOAL, Rate
from toolevals.grading.verdicts import VERDICT_NAMES

# What is followed over time.
SERIES = VERDICT_NAMES


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run as its line in a trend names it; `changed` says what differs from the run before."""

    number: int
    subject: str
    dataset_version: UUID
    dataset: str
    created_at: datetime
    changed: str = ""
    # Which part of the version was taken; empty where all of it was.
    part: str = ""
    # The version whose gold it is graded against, where that is another one.
    graded_on: UUID | None = None
    # What differs from the run before, in a word each.
    changes: tuple[str, ...] = ()

    @property
    def comparable(self) -> tuple[UUID, str, UUID | None]:
        """What two runs must have in common for a line to join them."""
        return self.dataset_version, self.part, self.graded_on


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One run and its rates by series."""

    run: RunFacts
    rates: dict[str, Rate]


@dataclass(frozen=True, slots=True)
class Series:
    """One rate over the runs, oldest first: stretches of runs that can be compared with each other."""

    name: str
    goal: float
    segments: tuple[tuple[TrendRow, ...], ...]

    @property
    def rows(self) -> tuple[TrendRow, ...]:
        return tuple(row for segment in self.segments for row in segment)


@dataclass(frozen=True, slots=True)
class Trend:
    """Every run, oldest first, and the series that have something to show."""

    rows: tuple[TrendRow, ...]
    series: tuple[Series, ...]


def trend_of(runs: Sequence[tuple[RunFacts, VerdictCounts]]) -> Trend:
    """Return the trend of runs, oldest first, from their counted verdicts."""
    rows = tuple(TrendRow(facts, {row.name: row.rate for row in layers_of(counts).rows}) for facts, counts in runs)
    series = (Series(name, GOALS[name], _segments(rows, name)) for name in SERIES)
    return Trend(rows, tuple(each for each in series if each.segments))


def tool_trend_of(runs: Sequence[tuple[RunFacts, Mapping[str, Rate]]]) -> Trend:
    """Return the trend of a rate by tool, the tool that is worst in its newest run first."""
    rows = tuple(TrendRow(facts, dict(rates)) for facts, rates in runs)
    names = dict.fromkeys(name for row in rows for name in row.rates)
    series = [Series(name, TOOL_GOAL, _segments(rows, name)) for name in names]
    shown = [each for each in series if each.segments]
    shown.sort(key=lambda each: (-each.rows[-1].run.number, each.rows[-1].rates[each.name].value or 0.0, each.name))
    return Trend(rows, tuple(shown))


def _segments(rows: Sequence[TrendRow], name: str) -> tuple[tuple[TrendRow, ...], ...]:
    found: list[list[TrendRow]] = []
    for row in rows:
        if name not in row.rates or row.rates[name].value is None:
            continue
        if found and found[-1][-1].run.comparable == row.run.comparable:
            found[-1].append(row)
        else:
            found.append([row])
    return tuple(tuple(segment) for segment in found)
