"""Rates by tool over the runs of an experiment, and tools and judges as small pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import F, Sum

from reports.analyses.rates import Rate, rate
from reports.analyses.trend import Series, Trend, TrendRow, tool_trend_of
from reports.filters import View
from reports.judge_trend import JudgedRun
from reports.run_facts import recent_runs
from reports.trend_page import MOST_RUNS
from toolevals.presentation.sparks import BrokenSpark, broken_spark
from toolevals.runs.models import Experiment, MatrixCount


class ToolRate(StrEnum):
    """Which rate of a tool is followed, by what its cases have in common."""

    RECALL = "recall"
    PRECISION = "precision"


@dataclass(frozen=True, slots=True)
class SmallTrend:
    """One rate over runs: its newest value, and the picture, whose line breaks where runs cannot be compared."""

    name: str
    run: int
    rate: Rate
    goal: float
    runs: int
    picture: BrokenSpark


def experiment_tool_trend(experiment: Experiment, which: ToolRate = ToolRate.RECALL) -> Trend:
    """Return a rate of each tool in the experiment's newest runs, oldest first. Three queries."""
    runs = recent_runs(experiment, most=MOST_RUNS)
    column = "expected" if which is ToolRate.RECALL else "actual"
    counts = MatrixCount.objects.filter(grading__in=[grading for _, grading in runs], view=View.FIRST)
    totals, right = (
        _sums(rows.values_list("grading_id", column).annotate(Sum("count")).order_by())
        for rows in (counts, counts.filter(expected=F("actual")))
    )
    rates: dict[UUID, dict[str, Rate]] = {}
    for (grading, name), total in totals.items():
        rates.setdefault(grading, {})[name] = rate(right[grading, name], total)
    return tool_trend_of([(facts, rates.get(grading, {})) for facts, grading in runs])


def small_tool_trends(trend: Trend, most: int | None = None) -> tuple[SmallTrend, ...]:
    """Return a picture for each tool, the worst of the newest run first."""
    places = {row.run.number: place for place, row in enumerate(trend.rows)}
    return tuple(_small(series, places) for series in trend.series[:most])


def small_judge_trends(judged: Sequence[JudgedRun]) -> tuple[SmallTrend, ...]:
    """Return a picture for each judge, from runs oldest first; another judge or rubric version is another stretch."""
    places = {each.run.number: place for place, each in enumerate(judged)}
    rows = {each.name: None for run in judged for each in run.judges}
    found = []
    for name in rows:
        segments: list[list[TrendRow]] = []
        last: object = None
        goal = 0.0
        for run in judged:
            for each in run.judges:
                if each.name != name or each.rate.value is None:
                    continue
                key = run.run.comparable, each.judge, each.model, each.version
                if key != last:
                    segments.append([])
                segments[-1].append(TrendRow(run.run, {name: each.rate}))
                last, goal = key, each.goal
        if segments:
            found.append(_small(Series(name, goal, tuple(map(tuple, segments))), places))
    return tuple(found)


def _small(series: Series, places: dict[int, int]) -> SmallTrend:
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
    picture = broken_spark(points, goal=series.goal, width=len(places), changes=changes)
    return SmallTrend(series.name, newest.run.number, newest.rates[series.name], series.goal, len(series.rows), picture)


def _sums(rows: object) -> Counter[tuple[UUID, str]]:
    return Counter({(grading, name): count for grading, name, count in rows})  # type: ignore[attr-defined]
