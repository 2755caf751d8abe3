"""Follow rates over runs by tool, by parameter and by judge."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce

from reports.cases.queries import verdict_counts_of
from reports.judges.analysis import JudgeRow, JudgeTotals, Mark, judge_rows
from reports.judges.queries import TOTALS, mark_of
from reports.rates import GOALS, Rate, rate
from reports.run.findings import ALL_TOGETHER, ANY_WRONG, WRONG, wrong_rate
from reports.trends.analysis import Point, RunFacts, Series, Trend, TrendRow, apart_by_grader, series_of, tool_trend_of
from reports.trends.page import cases_url, lowest
from toolevals.grading.values.verdicts import NONE
from toolevals.presentation.sparks import BrokenSpark, broken_spark
from toolevals.runs.aggregates.cube import View
from toolevals.runs.aggregates.sums import first_call_sums, kept_sums_of
from toolevals.runs.judging.judge_reliability import standings_of
from toolevals.runs.models import ArgumentCount, Grading, Judge, JudgeCount, MatrixCount
from toolevals.workspace.models import Project


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


# A tool and one of its parameters.
Parameter = tuple[str, str]
_LAYER: Final = "arguments"


@dataclass(frozen=True, slots=True)
class ParameterTrend:
    """The rate of each parameter that is wrong in any of the runs, what moved most first; `named` tells which it is."""

    trend: Trend
    named: Mapping[str, Parameter]

    @property
    def points(self) -> Iterator[Point]:
        """Every rate of every run, with its tool and its argument."""
        for point in self.trend.points:
            tool, argument = self.named[point.name]
            yield replace(point, tool=tool, argument=argument)

    def url(self, project: Project, run: RunFacts, name: str, rate: Rate) -> str:
        """Return the address of the cases in which a parameter is wrong; of all calls to its tool where none is."""
        tool, argument = self.named[name]
        if rate.passed < rate.total:
            return cases_url(project, run, fault=ANY_WRONG, tool=tool, parameter=argument)
        return cases_url(project, run, view=View.ALIGNED, expected=tool, actual=tool)


def parameter_trend(runs: Sequence[RunFacts]) -> ParameterTrend:
    """Return the trend of parameters, from runs oldest first. As many queries for one run as for all.

    Runs whose wrong arguments were not counted by parameter have no rates.
    """
    verdicts = verdict_counts_of([run.grading for run in runs if run.grading])
    wrong: defaultdict[UUID, dict[Parameter, int]] = defaultdict(dict)
    counts = ArgumentCount.objects.filter(grading__in=verdicts, kind__in=WRONG).order_by()
    for grading, tool, argument, count in counts.values_list("grading_id", "tool", "argument").annotate(Sum("count")):
        wrong[grading][tool, argument] = count
    calls: defaultdict[UUID, dict[str, int]] = defaultdict(dict)
    right = MatrixCount.objects.filter(grading__in=verdicts, view=View.ALIGNED, expected=F("actual"))
    for grading, tool, count in right.exclude(expected=NONE).values_list("grading_id", "expected", "count"):
        calls[grading][tool] = count
    sums = kept_sums_of(list(Grading.objects.filter(pk__in=list(calls)).select_related("run")), _LAYER)
    named = {_name(*each): each for each in sorted({each for found in wrong.values() for each in found})}
    rows = []
    for run in runs:
        rates, grading = {}, run.grading
        if (
            grading is not None
            and grading in calls
            and (grading in wrong or not verdicts.get(grading, {}).get(_LAYER, {}).get("failed"))
        ):
            rates = {
                name: _right(wrong_rate(wrong[grading].get(each, 0), calls[grading][each[0]], each, sums[grading]))
                for name, each in named.items()
                if each[0] in calls[grading]
            }
        rows.append(TrendRow(run, rates))
    series = series_of(rows, tuple(named), lambda _: GOALS[_LAYER], lambda a, b, _: apart_by_grader(a, b, _LAYER))
    return ParameterTrend(Trend(tuple(rows), tuple(sorted(series, key=_order))), named)


def _name(tool: str, argument: str) -> str:
    """Return what a parameter is called: "date of search"; parts that could be read otherwise are quoted."""
    parts = (
        json.dumps(part) if " of " in part or part[:1] == '"' or part == ALL_TOGETHER else part
        for part in (argument, tool)
    )
    return " of ".join(part or ALL_TOGETHER for part in parts)


def _right(wrong: Rate) -> Rate:
    if not wrong.total or wrong.low is None or wrong.high is None:
        return wrong
    passed = wrong.total - wrong.passed
    share = passed / wrong.total
    # Floats may miss the share by a hair.
    return replace(wrong, passed=passed, value=share, low=min(share, 1 - wrong.high), high=max(share, 1 - wrong.low))


def _order(series: Series) -> tuple[int, float, str]:
    """Put first what the newest run has, then by how far apart the intervals of the first and last joined run are."""
    first, last = (series.newest[place].rates[series.name] for place in (0, -1))
    gap = max((last.low or 0) - (first.high or 0), (first.low or 0) - (last.high or 0))
    return -series.rows[-1].run.number, -gap if len(series.newest) > 1 else 1.0, series.name


OTHER_JUDGE = "another judge, model or version of the rubric, or asked of other cases"


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One run and its judges' rows."""

    run: RunFacts
    judges: tuple[JudgeRow, ...]


def judged_runs(runs: Sequence[RunFacts]) -> tuple[JudgedRun, ...]:
    """Return the runs that were judged, in their order; as many queries for one as for all."""
    seats = dict(Grading.objects.filter(pk__in=[run.grading for run in runs]).values_list("pk", "judges"))
    counts: dict[UUID, dict[str, JudgeTotals]] = {}
    judged = [pk for pk, judges in seats.items() if judges]
    several = Grading.objects.filter(pk__in=judged, run__trials__gt=1, finished_at__isnull=False)
    sums = kept_sums_of(list(several.select_related("run")), "judgements")
    for count in JudgeCount.objects.filter(grading__in=judged):
        own = sums.get(count.grading_id, {}).get((count.rubric,))
        totals = JudgeTotals(**{name: getattr(count, name) for name in TOTALS}, sums=own)
        counts.setdefault(count.grading_id, {})[count.rubric] = totals
    judges = Judge.objects.filter(pk__in={seat["judge"] for each in seats.values() for seat in each})
    marks = {str(pk): mark_of(standing) for pk, standing in standings_of(judges).items()}
    return tuple(
        JudgedRun(run, judge_rows(seats[grading], counts[grading], _named(seats[grading], marks)))
        for run in runs
        if (grading := run.grading) in counts
    )


def _named(seats: list[dict[str, str]], marks: dict[str, Mark]) -> dict[str, Mark]:
    return {seat["rubric"]: marks[seat["judge"]] for seat in seats if seat["judge"] in marks}


def judge_trend(judged: Sequence[JudgedRun]) -> Trend:
    """Return the rate of each judge over runs, oldest first; another judge or rubric version is not joined."""
    rows = [TrendRow(each.run, {row.name: row.rate for row in each.judges}) for each in judged]
    told = {(each.run.number, row.name): row for each in judged for row in each.judges}

    def apart(before: RunFacts, after: RunFacts, name: str) -> tuple[str, ...]:
        one, two = told[before.number, name], told[after.number, name]
        other = _who(one) != _who(two)
        return (*after.apart_from(before), *([OTHER_JUDGE] if other else []))

    # The goal is that of the newest run.
    goals = {name: row.goal for (_, name), row in told.items()}
    return Trend(tuple(rows), tuple(series_of(rows, tuple(goals), goals.__getitem__, apart)))


def _who(row: JudgeRow) -> tuple[str, str, int, bool]:
    return row.judge, row.model, row.version, row.only_unscored


def judge_points(judged: Sequence[JudgedRun]) -> Iterator[Point]:
    """Yield every judge's rate in every run, with who judged."""
    told = {(each.run.number, row.name): row for each in judged for row in each.judges}
    for point in judge_trend(judged).points:
        row = told[point.run.number, point.name]
        yield replace(point, judge=row.judge, model=row.model, flag=row.mark.flag)
