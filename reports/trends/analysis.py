"""Work out rates over runs. Only runs that can be compared with each other are joined by a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

from reports.rates import GOALS, TOOL_GOAL, Rate
from reports.run.analysis import NO_SUMS, VerdictCounts, VerdictSums, layers_of
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.aggregates.spending import Spending

# What is followed over time.
SERIES = VERDICT_NAMES
# What two runs must have in common for a line to join them -> why it does not.
BREAKS: Final[Mapping[str, str]] = {
    "dataset_version": "another dataset version",
    "part": "other examples",
    "graded_on": "other gold",
}
OTHER_REGISTRY = "another registry"
OTHER_GRADERS = "another version of its grader"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run as its line in a trend names it; `changed` says what differs from the run before."""

    number: int
    agent: str
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
    # The grading that is shown, and the version of each of its graders.
    grading: UUID | None = None
    graders: Mapping[str, str] = field(default_factory=dict)
    experiment: str = ""
    # Whose tools the agent was given instead of those that the dataset offers.
    registry: UUID | None = None
    trials: int = 1
    # What its conversations took.
    took: Spending = field(default_factory=Spending)

    def apart_from(self, other: RunFacts) -> tuple[str, ...]:
        """Return why no line joins this run and another, whatever the rate; nothing where one may."""
        breaks = [words for name, words in BREAKS.items() if getattr(self, name) != getattr(other, name)]
        # Who takes the tools as the dataset offers them has no registry of its own.
        if self.registry and other.registry and self.registry != other.registry:
            breaks.append(OTHER_REGISTRY)
        return tuple(breaks)


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One run and its rates by series."""

    run: RunFacts
    rates: dict[str, Rate]


@dataclass(frozen=True, slots=True)
class Series:
    """One rate over the runs, oldest first: stretches of runs that can be compared with each other.

    Stretches may lie side by side: a run is joined to the newest earlier one that it can be compared with. `broken`
    says, by a run's number, why it is not joined to the one just before.
    """

    name: str
    goal: float
    segments: tuple[tuple[TrendRow, ...], ...]
    broken: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[TrendRow, ...]:
        return tuple(sorted((row for segment in self.segments for row in segment), key=lambda row: row.run.number))

    @property
    def newest(self) -> tuple[TrendRow, ...]:
        """The stretch that the newest run belongs to."""
        return max(self.segments, key=lambda segment: segment[-1].run.number)


@dataclass(frozen=True, slots=True)
class Point:
    """One rate of one run: the line that it stands in, from 1, and why it is not joined to the run before, if not."""

    run: RunFacts
    name: str
    rate: Rate
    line: int | None
    broken: tuple[str, ...]
    # Of judges: who said so, and what is to be known of them.
    judge: str = ""
    model: str = ""
    flag: str = ""
    # Of parameters: which.
    tool: str = ""
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """Every run, oldest first, and the series that have something to show."""

    rows: tuple[TrendRow, ...]
    series: tuple[Series, ...]

    @property
    def points(self) -> Iterator[Point]:
        """Every rate of every run, run by run; what has nothing to count stands in no line."""
        places = {
            (series.name, row.run.number): (line, series.broken.get(row.run.number, ()))
            for series in self.series
            for line, segment in enumerate(series.segments, start=1)
            for row in segment
        }
        for row in self.rows:
            for name, rate in row.rates.items():
                yield Point(row.run, name, rate, *places.get((name, row.run.number), (None, ())))


# Why a line does not join two runs in the rate of a name.
Apart = Callable[[RunFacts, RunFacts, str], tuple[str, ...]]


def trend_of(
    runs: Sequence[tuple[RunFacts, VerdictCounts]], sums: Mapping[UUID, VerdictSums] = MappingProxyType({})
) -> Trend:
    """Return the trend of runs, oldest first, from their counted verdicts; `sums` over examples by their gradings."""
    pairs = [
        (facts, layers_of(counts, sums.get(facts.grading, NO_SUMS) if facts.grading else NO_SUMS))
        for facts, counts in runs
    ]
    rows = [TrendRow(facts, {row.name: row.rate for row in layers.rows}) for facts, layers in pairs]
    return Trend(tuple(rows), tuple(series_of(rows, SERIES, GOALS.__getitem__)))


def tool_trend_of(runs: Sequence[tuple[RunFacts, Mapping[str, Rate]]]) -> Trend:
    """Return the trend of a rate by tool, the tool that is worst in its newest run first."""
    rows = [TrendRow(facts, dict(rates)) for facts, rates in runs]
    names = tuple(dict.fromkeys(name for row in rows for name in row.rates))
    shown = list(
        series_of(rows, names, lambda _: TOOL_GOAL, lambda one, two, _: apart_by_grader(one, two, "selection"))
    )
    shown.sort(key=lambda each: (-each.rows[-1].run.number, each.rows[-1].rates[each.name].value or 0.0, each.name))
    return Trend(tuple(rows), tuple(shown))


def apart_by_grader(before: RunFacts, after: RunFacts, name: str) -> tuple[str, ...]:
    """Return why two runs are not joined in what a grader says; a whole case is said by all of them."""
    known = before.graders.keys() & after.graders.keys()
    asked = known & {*VERDICT_NAMES} if name == "outcome" else known & {name}
    other = any(before.graders[each] != after.graders[each] for each in asked)
    return (*after.apart_from(before), *([OTHER_GRADERS] if other else []))


def series_of(
    rows: Sequence[TrendRow], names: Sequence[str], goal: Callable[[str], float], apart: Apart = apart_by_grader
) -> Iterator[Series]:
    """Yield the series of the names that have something to show, in their order, from rows oldest first."""
    for name in names:
        shown = [row for row in rows if name in row.rates and row.rates[name].value is not None]
        if shown:
            yield Series(name, goal(name), *_segments(shown, name, apart))


def _segments(
    rows: Sequence[TrendRow], name: str, apart: Apart
) -> tuple[tuple[tuple[TrendRow, ...], ...], dict[int, tuple[str, ...]]]:
    segments: list[list[TrendRow]] = []
    broken: dict[int, tuple[str, ...]] = {}
    for place, row in enumerate(rows):
        joined = (segment for segment in reversed(segments) if not apart(segment[-1].run, row.run, name))
        if (segment := next(joined, None)) is not None:
            segment.append(row)
        else:
            segments.append([row])
        if place and (why := apart(rows[place - 1].run, row.run, name)):
            broken[row.run.number] = why
    return tuple(tuple(segment) for segment in segments), broken
