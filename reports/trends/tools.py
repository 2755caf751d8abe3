"""Show rates by tool over runs, and tools and judges as small pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce

from reports.analyses.trend import RunFacts, Series, Trend, tool_trend_of
from reports.rates import Rate, rate
from reports.trends.page import lowest
from toolevals.presentation.sparks import BrokenSpark, broken_spark
from toolevals.runs.counts.counted_cases import View
from toolevals.runs.counts.example_sums import first_call_sums
from toolevals.runs.models import Grading, MatrixCount


class ToolRate(StrEnum):
    """The rate of a tool that is followed, by what its cases have in common."""

    RECALL = "recall"
    PRECISION = "precision"

    @property
    def column(self) -> str:
        """Return what its cases have in common: the class that they expect, or that they called."""
        return "expected" if self is ToolRate.RECALL else "actual"


@dataclass(frozen=True, slots=True)
class SmallTrend:
    """One rate over runs: its newest value, and the picture, whose line breaks where runs cannot be compared."""

    name: str
    run: int
    rate: Rate
    goal: float
    runs: int
    picture: BrokenSpark
    # The runs of the picture's dots, in their order.
    numbers: tuple[int, ...]

    @property
    def dots(self) -> list[tuple[int, str, str]]:
        """Each run and where its point stands."""
        return [(run, x, y) for run, (x, y) in zip(self.numbers, self.picture.dots, strict=True)]


def runs_tool_trend(runs: Sequence[RunFacts], which: ToolRate = ToolRate.RECALL) -> Trend:
    """Return a rate of each tool in some runs, oldest first. One query, and more where a run has several trials."""
    counts = MatrixCount.objects.filter(grading__in=[run.grading for run in runs], view=View.FIRST)
    right = Coalesce(Sum("count", filter=Q(expected=F("actual"))), 0)
    found = counts.values_list("grading_id", which.column).annotate(total=Sum("count"), right=right).order_by()
    rates: dict[UUID | None, dict[str, Rate]] = {}
    several = [run.grading for run in runs if run.grading and run.trials > 1]
    gradings = Grading.objects.filter(pk__in=several).select_related("run") if several else ()
    sums = {grading.pk: first_call_sums(grading) for grading in gradings}
    for grading, name, total, passed in found:
        whole = sums.get(grading, {}).get((which.value, name))
        rates.setdefault(grading, {})[name] = rate(passed, total, whole)
    return tool_trend_of([(run, rates.get(run.grading, {})) for run in runs])


def small_trends(trend: Trend, most: int | None = None, *, same_scale: bool = True) -> tuple[SmallTrend, ...]:
    """Return a picture for each series, in the trend's order; all on one scale, unless each is to have its own."""
    places = {row.run.number: place for place, row in enumerate(trend.rows)}
    shown = trend.series[:most]
    least = min(lowest(shown), default=None) if same_scale else None
    return tuple(_small(series, places, least) for series in shown)


def _small(series: Series, places: dict[int, int], least: float | None) -> SmallTrend:
    newest = series.rows[-1]
    points = [
        [
            (places[row.run.number], found.value or 0.0, found.low or 0.0, found.high or 0.0)
            for row in segment
            for found in (row.rates[series.name],)
        ]
        for segment in series.segments
    ]
    changes = [places[row.run.number] for row in series.rows if row.run.changes]
    picture = broken_spark(points, goal=series.goal, width=len(places), changes=changes, least=least)
    numbers = tuple(row.run.number for segment in series.segments for row in segment)
    return SmallTrend(
        series.name, newest.run.number, newest.rates[series.name], series.goal, len(numbers), picture, numbers
    )
